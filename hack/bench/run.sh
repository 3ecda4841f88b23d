#!/usr/bin/env bash
# Compares the runner with the original tools on the same servers, in pairs of runs, and prints tables in Markdown with the
# machine they were made on. Nothing else should run meanwhile.
#
# Usage: hack/bench/run.sh [PART]... [OPTION]...       all parts if none is named; an hour altogether
#   nnthroughput   with NNThroughputBenchmark, on a NameNode of its own; then what the client reaches against a server that
#                  answers at once: half an hour
#   ycsb           with YCSB and HBase's Java client, on the HBase of hack/hbase/up.sh; then what the runner adds to a server
#                  that takes two milliseconds: half an hour
#   OPTION of both: -pairs 7   -scale 1 (how long runs are)   -only open,create or load,a,c,f,updateonly,basic   -threads 8
#        HADOOP_VERSION=3.4.2, HBASE_VERSION=2.5.10-hadoop3 take these versions of servers and tools
#        HBASE_HEAP=2g         of each RegionServer; default 768m
# Leaves: running what ran before: HBase and HDFS are stopped again if they were started here. Tables go to standard output,
#         progress to standard error.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"
source "$ROOT/hack/hadoop/lib.sh"
source "$ROOT/hack/hbase/lib.sh"

RPC_PORT=8140 HTTP_PORT=9940
WORK=$(mktemp -d)
STOP=() # what a part has to stop at its end, the last one first

stop_servers() {
  local i
  for ((i = ${#STOP[@]} - 1; i >= 0; i--)); do ${STOP[i]}; done
  STOP=()
}

finish() {
  stop_servers
  rm -rf "$WORK"
}

machine() {
  echo "$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n1), $(nproc) cores," \
    "$(awk '/MemTotal/ {printf "%.0f GiB", $2 / 1048576}' /proc/meminfo), Linux $(uname -r)."
  echo "$1, $("$JAVA" -version 2>&1 | head -n1), $(go env GOVERSION)," \
    "operator $(git -C "$ROOT" describe --always --dirty), $(date -u +%F)."
  echo
}

# bench PART OPTION...
bench() { in_ns "$NS" "$WORK/bench" "$@"; }

stop_namenode() { "$ROOT/hack/hadoop/namenode.sh" down bench; }
part_nnthroughput() {
  STOP+=(stop_namenode)
  "$ROOT/hack/hadoop/namenode.sh" up bench $RPC_PORT $HTTP_PORT
  machine "Hadoop $HADOOP_VERSION"
  bench nnthroughput -fs "hdfs://$CP_IP:$RPC_PORT" -ours "$WORK/runner nnthroughput" \
    -java "$ROOT/hack/hadoop/nnthroughput.sh" "$@"
  echo
  echo "getFileInfo against a server that answers at once, in a process of its own:"
  echo '```'
  go test -run '^$' -bench BenchmarkCall -benchtime 3s ./runner/hadoop/rpc | grep -E '^(cpu|Benchmark)'
  echo '```'
  echo
}

stop_hdfs() { with_lock hdfs service_stop 10 "${HDFS_SERVICES[@]}"; }
stop_hbase() { with_lock hbase service_stop 0 "${HBASE_SERVICES[@]}"; }
# java_options SERVICE: those that its JVM was started with, which decide how fast it is.
java_options() { tr '\0' '\n' <"/proc/$(service_pid "$1")/cmdline" | grep -E '^-X' | paste -sd ' '; }
part_ycsb() {
  service_alive namenode || STOP+=(stop_hdfs)
  service_alive hbase-master || STOP+=(stop_hbase)
  "$ROOT/hack/peers/fetch.sh" >&2
  "$ROOT/hack/hbase/up.sh"
  machine "HBase $HBASE_VERSION on Hadoop $HADOOP_VERSION, 2 RegionServers with $(java_options hbase-rs1)"
  bench ycsb -zookeeper "$CP_IP:2181" -workloads "$ROOT/runner/ycsb/workloads" -ours "$WORK/runner ycsb" \
    -java "$ROOT/hack/peers/ycsb.sh" "$@"
  echo
  echo "Reads from a server that takes two milliseconds for each:"
  echo
  bench null -workloads "$ROOT/runner/ycsb/workloads" -ours "$WORK/runner ycsb" "$@"
  echo
}

PARTS=()
while [[ ${1:-} == nnthroughput || ${1:-} == ycsb ]]; do
  PARTS+=("$1")
  shift
done
((${#PARTS[@]})) || PARTS=(nnthroughput ycsb)
[[ ${1:--} == -* ]] || die "no part $1: see the head of hack/bench/run.sh"
require_root
trap finish EXIT
cd "$ROOT"
CGO_ENABLED=0 go build -trimpath -ldflags "-s -w" -o "$WORK/" ./cmd/runner ./hack/bench
for part in "${PARTS[@]}"; do
  "part_$part" "$@"
  stop_servers
done
