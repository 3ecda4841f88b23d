#!/usr/bin/env bash
# Starts HDFS beside the local cluster: a NameNode and three DataNodes as processes in network namespace hb, where pods
# reach them. Does nothing if they are up; after a crash it cleans up first.
#
# Usage: hack/hadoop/up.sh           KEEP=1 starts with the data of the last time, else HDFS is empty
#        HADOOP_VERSION=3.4.2        takes another version than 3.5.0
#        HDFS_JAVA_OPTIONS=...       options of the servers' JVMs, e.g. "-XX:+UseSerialGC -XX:TieredStopAtLevel=1":
#                                    starts in half the time, at the price of peak speed
#        NameNode hdfs://198.18.0.1:8020, web http://198.18.0.1:9870; /benchmarks and
#        /nnThroughputBenchmark are writable for everyone
# Leaves: four processes, namespace hb, and $HADOOPBENCH_CACHE/state/hdfs. hack/hadoop/down.sh stops the processes.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"
source "$ROOT/hack/hadoop/lib.sh"

all_live() { jmx "$NAMENODE_HTTP" FSNamesystemState NumLiveDataNodes ${#DATANODES[@]}; }

running() {
  local name
  [[ $(cat "$HDFS_STATE/version" 2>/dev/null) == "$HADOOP_VERSION" ]] || return 1
  for name in "${HDFS_SERVICES[@]}"; do service_alive "$name" || return 1; done
  all_live
}

# base_directories: where runs make theirs; through the NameNode's web interface, since a Java shell would take seconds to
# say one word.
base_directories() {
  local dir
  for dir in benchmarks nnThroughputBenchmark; do
    web -X PUT "http://$NAMENODE_HTTP/webhdfs/v1/$dir?op=MKDIRS&permission=1777&user.name=$(id -un)" || return 1
  done
}

prepare_data() {
  mkdir -p "$HDFS_STATE"
  hosts_file
  [[ ${KEEP:-0} != 1 || ! -d $HDFS_STATE/name ]] || return 0
  rm -rf "$HDFS_STATE"/{name,data*,tmp}
  empty_name "$HDFS_STATE/name"
}

start() {
  local n
  if running; then
    log "HDFS is up"
    return
  fi
  SECONDS=0
  service_stop 10 "${HDFS_SERVICES[@]}"
  net_up
  prepare_data
  # The DataNodes need not wait for the NameNode: they try again several times a second (core-site.xml).
  start_java namenode 512m $NAMENODE_CLASS
  for n in "${DATANODES[@]}"; do
    start_java "datanode$n" 384m -Dhadoopbench.datanode="$n" $DATANODE_CLASS
  done
  WATCH=("${HDFS_SERVICES[@]}")
  wait_until 120 "${#DATANODES[@]} live DataNodes; see $LOGS" all_live
  wait_until 30 "directory /benchmarks" base_directories
  echo "$HADOOP_VERSION" >"$HDFS_STATE/version"
  log "HDFS is up after $SECONDS s: hdfs://$CP_IP:8020, ${#DATANODES[@]} DataNodes"
}

require_root
"$ROOT/hack/hadoop/fetch.sh"
with_lock hdfs start
