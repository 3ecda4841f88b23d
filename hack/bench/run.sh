#!/usr/bin/env bash
# Compares the runner with the original NNThroughputBenchmark on a NameNode of its own, in pairs of runs, and prints a
# table in Markdown with the machine it was made on; then what the client reaches against a server that answers at once.
# Nothing else should run meanwhile; all cases take about half an hour.
#
# Usage: hack/bench/run.sh [-pairs 7] [-scale 1] [-only open,create]
#        HADOOP_VERSION=3.4.2 takes that version of NameNode and tool
# Leaves: nothing running; the table goes to standard output, progress to standard error.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"
source "$ROOT/hack/hadoop/lib.sh"

RPC_PORT=8140 HTTP_PORT=9940
WORK=$(mktemp -d)

finish() {
  "$ROOT/hack/hadoop/namenode.sh" down bench
  rm -rf "$WORK"
}

machine() {
  echo "$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n1), $(nproc) cores," \
    "$(awk '/MemTotal/ {printf "%.0f GiB", $2 / 1048576}' /proc/meminfo), Linux $(uname -r)."
  echo "Hadoop $HADOOP_VERSION, $("$JAVA" -version 2>&1 | head -n1), $(go env GOVERSION)," \
    "operator $(git -C "$ROOT" describe --always --dirty), $(date -u +%F)."
}

require_root
trap finish EXIT
cd "$ROOT"
CGO_ENABLED=0 go build -trimpath -ldflags "-s -w" -o "$WORK/" ./cmd/runner ./hack/bench
"$ROOT/hack/hadoop/namenode.sh" up bench $RPC_PORT $HTTP_PORT
machine
echo
in_ns "$NS" "$WORK/bench" -fs "hdfs://$CP_IP:$RPC_PORT" -ours "$WORK/runner nnthroughput" \
  -java "$ROOT/hack/hadoop/nnthroughput.sh" "$@"
echo
echo "getFileInfo against a server that answers at once, in a process of its own:"
echo '```'
go test -run '^$' -bench BenchmarkCall -benchtime 3s ./runner/hadoop/rpc | grep -E '^(cpu|Benchmark)'
echo '```'
