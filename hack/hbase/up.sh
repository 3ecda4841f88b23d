#!/usr/bin/env bash
# Starts HBase on the HDFS of hack/hadoop/up.sh, which it starts if need be: ZooKeeper, a master and two RegionServers as
# processes in network namespace hb, where pods reach them. Does nothing if they are up; else HBase starts empty.
#
# Usage: hack/hbase/up.sh         HBASE_VERSION=2.5.10-hadoop3 takes another version
#        HDFS_JAVA_OPTIONS=...   as for hack/hadoop/up.sh
#        HBASE_HEAP=2g           of each RegionServer; default 768m
#        ZooKeeper 198.18.0.1:2181; conf/client describes it to a client; ports of the rest: see lib.sh.
#        hack/hbase/control.sh kills, stops and starts single RegionServers.
# Leaves: four processes besides those of HDFS, namespace hb, $HADOOPBENCH_CACHE/state/hbase and /hbase in HDFS.
#         hack/hbase/down.sh stops the processes, and so does hack/hadoop/down.sh.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"
source "$ROOT/hack/hadoop/lib.sh"
source "$ROOT/hack/hbase/lib.sh"

all_live() {
  web "http://$CP_IP:16010/jmx?get=Hadoop:service=HBase,name=Master,sub=Server::numRegionServers" |
    grep -qE "\"numRegionServers\": ${#REGIONSERVERS[@]}\b"
}

# has_directory: HDFS can have been started anew under HBase's feet.
has_directory() { web "http://$NAMENODE_HTTP/webhdfs/v1/hbase?op=GETFILESTATUS"; }

running() {
  local name
  [[ $(cat "$HBASE_STATE/version" 2>/dev/null) == "$HBASE_VERSION" ]] || return 1
  for name in "${HBASE_SERVICES[@]}"; do service_alive "$name" || return 1; done
  says hbase-master "$INITIALIZED" && all_live && has_directory >/dev/null
}

# empty: ZooKeeper's data and HBase's directory belong together.
empty() {
  rm -rf "$HBASE_STATE"
  mkdir -p "$HBASE_STATE/conf"
  cp "$HBASE_CONF/server/hbase-site.xml" "$HBASE_STATE/conf/"
  web -o "$HBASE_STATE/deleted" -X DELETE \
    "http://$NAMENODE_HTTP/webhdfs/v1/hbase?op=DELETE&recursive=true&user.name=$(id -un)"
}

start_zookeeper() {
  cat >"$HBASE_STATE/zoo.cfg" <<CONF
tickTime=2000
dataDir=$HBASE_STATE/zookeeper
clientPort=2181
clientPortAddress=$CP_IP
maxClientCnxns=0
admin.enableServer=false
4lw.commands.whitelist=*
CONF
  start_hbase zookeeper 128m "$CLUSTER_CONF" org.apache.zookeeper.server.quorum.QuorumPeerMain "$HBASE_STATE/zoo.cfg"
}

start_master() {
  start_hbase master 512m "$CLUSTER_CONF" $MASTER_CLASS "${CLUSTER_OPTIONS[@]}" -D hbase.master.port=16000 \
    -D hbase.master.info.port=16010 start
}

start() {
  local n
  if running; then
    log "HBase is up"
    return
  fi
  SECONDS=0
  service_stop 0 "${HBASE_SERVICES[@]}"
  hosts_file
  empty
  # Nobody needs to wait for ZooKeeper: their JVMs take longer than it does.
  start_zookeeper
  start_master
  for n in "${REGIONSERVERS[@]}"; do start_regionserver "$n"; done
  WATCH=("${HBASE_SERVICES[@]}")
  wait_until 180 "HBase's master; see $LOGS" says hbase-master "$INITIALIZED"
  echo "$HBASE_VERSION" >"$HBASE_STATE/version"
  log "HBase ($HBASE_VERSION) is up after $SECONDS s: $HBASE_CONF/client, ${#REGIONSERVERS[@]} RegionServers"
}

require_root
"$ROOT/hack/hbase/fetch.sh"
"$ROOT/hack/hadoop/up.sh"
with_lock hbase start
