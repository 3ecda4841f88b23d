#!/usr/bin/env bash
# The original NNThroughputBenchmark, to compare the runner with. All its output goes to standard output as it is.
#
# Usage: hack/hadoop/nnthroughput.sh -fs hdfs://198.18.0.1:8122 -op open -threads 16 -files 10000
#        hack/hadoop/nnthroughput.sh -fs file:/// -op all      with a NameNode of its own in its process
#        HADOOP_VERSION=3.4.2 takes that version; JDK_JAVA_OPTIONS=... sets options of its JVM; HDFS_CLIENT=client-ha takes
#        the configuration in conf/client-ha
# Leaves: what the benchmark leaves in the NameNode.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"
source "$ROOT/hack/hadoop/lib.sh"

(($#)) || die "usage: hack/hadoop/nnthroughput.sh [-fs URI] -op OPERATION [OPTION]..."
"$ROOT/hack/hadoop/fetch.sh"
HDFS_STATE=$(mktemp -d)
# The tool never ends when one of its operations fails, so whoever stops this script has to stop it too.
trap 'kill $! 2>/dev/null || true; rm -rf "$HDFS_STATE"' EXIT
empty_name "$HDFS_STATE/name"
# With conf/server, since the tool reads hadoop.tmp.dir before -D has an effect. Its own NameNode takes any free port.
HDFS_CLIENT=${HDFS_CLIENT:-server} run_java -Xmx1g org.apache.hadoop.hdfs.server.namenode.NNThroughputBenchmark \
  -D dfs.namenode.rpc-address=localhost:0 "$@" 2>&1 &
wait $!
