#!/usr/bin/env bash
# Lone NameNodes: empty ones without DataNodes, of any version, for tests and benchmarks of the namespace. Several can run
# at once, beside HDFS. They take blocks of 16 bytes, as NNThroughputBenchmark wants it, and fake DataNodes.
#
# Usage: hack/hadoop/namenode.sh up NAME RPC-PORT HTTP-PORT [-D PROPERTY=VALUE]...     a running NAME is replaced
#        hack/hadoop/namenode.sh down NAME...
#        HADOOP_VERSION=3.3.6, HDFS_JAVA_OPTIONS=...: as for up.sh
#        e.g. HADOOP_VERSION=3.3.6 hack/hadoop/namenode.sh up old 8120 9920: hdfs://198.18.0.1:8120, http://198.18.0.1:9920
# Leaves: one process each, namespace hb, and $HADOOPBENCH_CACHE/state/hdfs-NAME. down.sh stops them too.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"
source "$ROOT/hack/hadoop/lib.sh"

usage() { die "usage: hack/hadoop/namenode.sh up NAME RPC-PORT HTTP-PORT [-D PROPERTY=VALUE]... | down NAME..."; }

# answers HTTP-PORT: it does so only when the NameNode is active.
answers() { web "http://$CP_IP:$1/webhdfs/v1/?op=GETFILESTATUS"; }

up() { # NAME RPC-PORT HTTP-PORT [-D PROPERTY=VALUE]...
  local service=namenode-$1
  HDFS_STATE=$STATE/hdfs-$1
  SECONDS=0
  service_stop 10 "$service"
  net_up
  hosts_file
  rm -rf "$HDFS_STATE"
  empty_name "$HDFS_STATE/name"
  start_java "$service" 384m $NAMENODE_CLASS \
    -D "fs.defaultFS=hdfs://$CP_IP:$2" -D "dfs.namenode.rpc-address=$CP_IP:$2" -D "dfs.namenode.http-address=$CP_IP:$3" \
    -D dfs.namenode.fs-limits.min-block-size=16 "${@:4}"
  WATCH=("$service")
  wait_until 120 "NameNode $1; see $LOGS/$service.log" answers "$3"
  log "NameNode $1 ($HADOOP_VERSION) is up after $SECONDS s: hdfs://$CP_IP:$2"
}

down() {
  service_stop 10 "${@/#/namenode-}"
  rm -rf "${@/#/$STATE/hdfs-}"
}

require_root
(($# >= 2)) || usage
case $1 in
  up)
    (($# >= 4)) || usage
    "$ROOT/hack/hadoop/fetch.sh"
    with_lock "hdfs-$2" up "${@:2}"
    ;;
  down) down "${@:2}" ;;
  *) usage ;;
esac
