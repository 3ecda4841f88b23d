#!/usr/bin/env bash
# A pair of NameNodes that share their edits in a directory, without ZooKeeper, and one DataNode: hdfs://ha, which
# conf/client-ha describes.
#
# Usage: hack/hadoop/ha.sh up            starts it, empty; what of it runs or only died keeps its data: `up` brings a
#                                        NameNode that kill-active killed back, as standby
#        hack/hadoop/ha.sh state         "nn1 active", "nn2 standby" or "down", one a line
#        hack/hadoop/ha.sh failover      as an administrator does it: the active one becomes standby, then the other active
#        hack/hadoop/ha.sh kill-active   kills the active one without warning, then makes the other active
#        hack/hadoop/ha.sh down
#        hack/hadoop/hdfs with HDFS_CLIENT=client-ha is a client
#        HADOOP_VERSION=3.3.6, HDFS_JAVA_OPTIONS=...: as for up.sh; a pair of another version is replaced
# Leaves: three processes, namespace hb, and $HADOOPBENCH_CACHE/state/hdfs-ha. down.sh stops them too.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"
source "$ROOT/hack/hadoop/lib.sh"

HDFS_STATE=$STATE/hdfs-ha
SERVICES=(namenode-ha-nn1 namenode-ha-nn2 datanode-ha)
declare -A RPC=([nn1]=8220 [nn2]=8221) HTTP=([nn1]=9980 [nn2]=9981) # as in conf/client-ha
CLIENT_CONF=(-conf "$HADOOP_CONF/client-ha/core-site.xml" -conf "$HADOOP_CONF/client-ha/hdfs-site.xml")

# ---- state ----
# state NN: what it says of itself; without Java, which would take a second.
state() {
  local answer
  service_alive "namenode-ha-$1" || { echo down; return; }
  answer=$(web "http://$CP_IP:${HTTP[$1]}/jmx?get=Hadoop:service=NameNode,name=NameNodeStatus::State" || true)
  if [[ $answer =~ \"State\"\ :\ \"([a-z]+)\" ]]; then echo "${BASH_REMATCH[1]}"; else echo starting; fi
}

active() {
  local nn
  for nn in nn1 nn2; do
    if [[ $(state $nn) == active ]]; then echo $nn; return; fi
  done
  return 1
}

is() { [[ $(state "$1") == "$2" ]]; }
ready() { listens "${RPC[$1]}" && [[ $(state "$1") =~ ^(active|standby)$ ]]; } # NN
has_datanode() { jmx "$CP_IP:${HTTP[$1]}" FSNamesystemState NumLiveDataNodes 1; }

# ---- start ----
start_namenode() { # NN
  service_alive "namenode-ha-$1" && return
  start_java "namenode-ha-$1" 384m $NAMENODE_CLASS "${CLIENT_CONF[@]}" -D "dfs.ha.namenode.id=$1" \
    -D "dfs.namenode.name.dir=file://$HDFS_STATE/$1" -D "dfs.namenode.shared.edits.dir=file://$HDFS_STATE/shared" \
    -D dfs.namenode.fs-limits.min-block-size=16 -D dfs.ha.tail-edits.period=1s -D dfs.ha.log-roll.period=10s
}

start_datanode() {
  service_alive datanode-ha && return
  start_java datanode-ha 256m -Dhadoopbench.datanode=4 $DATANODE_CLASS "${CLIENT_CONF[@]}"
}

# empty_pair: what formatting the first and bootstrapping the second NameNode leaves, without running either.
empty_pair() {
  service_stop 10 "${SERVICES[@]}"
  rm -rf "$HDFS_STATE"
  empty_name "$HDFS_STATE/nn1"
  empty_name "$HDFS_STATE/nn2"
  empty_name "$HDFS_STATE/shared"
  rm "$HDFS_STATE"/shared/current/fsimage_*
  echo "$HADOOP_VERSION" >"$HDFS_STATE/version"
}

# goes_on: whether there is something of this version to go on with.
goes_on() {
  local service
  [[ $(cat "$HDFS_STATE/version" 2>/dev/null) == "$HADOOP_VERSION" ]] || return 1
  for service in "${SERVICES[@]}"; do service_alive "$service" && return; done
  return 1
}

up() {
  SECONDS=0
  net_up
  hosts_file
  goes_on || empty_pair
  start_namenode nn1
  start_namenode nn2
  start_datanode
  WATCH=("${SERVICES[@]}")
  wait_until 120 "both NameNodes; see $LOGS" both_ready
  active >/dev/null || admin -transitionToActive nn1
  wait_until 60 "the DataNode at both NameNodes" both_have_datanode
  wait_until 30 "directory /benchmarks" base_directory
  log "the HA pair ($HADOOP_VERSION) is up after $SECONDS s: hdfs://ha, $(active) is active"
}

both_ready() { ready nn1 && ready nn2; }
both_have_datanode() { has_datanode nn1 && has_datanode nn2; }

base_directory() {
  web -X PUT "http://$CP_IP:${HTTP[$(active)]}/webhdfs/v1/benchmarks?op=MKDIRS&permission=1777&user.name=$(id -un)"
}

# ---- failover ----
# admin ARGS...: `hdfs haadmin`, whose output only matters when it fails. Nobody fences here: whoever calls knows which
# NameNode is dead.
admin() {
  (HDFS_CLIENT=client-ha run_java -Xmx128m -XX:TieredStopAtLevel=1 -XX:+UseSerialGC \
    org.apache.hadoop.hdfs.tools.DFSHAAdmin -D "dfs.ha.fencing.methods=shell(/bin/true)" "$@") \
    >"$LOGS/haadmin.log" 2>&1 </dev/null || { cat "$LOGS/haadmin.log" >&2; die "haadmin $* failed"; }
}

milliseconds() { echo $(($(date +%s%N) / 1000000)); }

# standby_of NN: the other NameNode, if it can take over.
standby_of() {
  local to
  if [[ $1 == nn1 ]]; then to=nn2; else to=nn1; fi
  is $to standby || die "$to is not standby: hack/hadoop/ha.sh up starts it again"
  echo $to
}

# took_over TO SINCE WHAT
took_over() {
  wait_until 30 "$1 active" is "$1" active
  echo "$3: $1 is active after $(($(milliseconds) - $2)) ms"
}

failover() {
  local from to since
  from=$(active) || die "no NameNode is active: hack/hadoop/ha.sh up"
  to=$(standby_of "$from")
  since=$(milliseconds)
  admin -failover "$from" "$to"
  took_over "$to" "$since" "failover from $from"
}

kill_active() {
  local from to since
  from=$(active) || die "no NameNode is active: hack/hadoop/ha.sh up"
  to=$(standby_of "$from")
  since=$(milliseconds)
  kill -9 "$(service_pid "namenode-ha-$from")"
  admin -transitionToActive --forceactive "$to"
  took_over "$to" "$since" "killed $from"
}

down() {
  service_stop 10 "${SERVICES[@]}"
  rm -rf "$HDFS_STATE"
}

require_root
case ${1:-} in
  up)
    "$ROOT/hack/hadoop/fetch.sh"
    with_lock hdfs-ha up
    ;;
  state) for nn in nn1 nn2; do echo "$nn $(state $nn)"; done ;;
  failover) with_lock hdfs-ha failover ;;
  kill-active) with_lock hdfs-ha kill_active ;;
  down) with_lock hdfs-ha down ;;
  *) die "usage: hack/hadoop/ha.sh up|state|failover|kill-active|down" ;;
esac
