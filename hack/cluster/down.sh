#!/usr/bin/env bash
# Stops the local cluster and HDFS.
#
# Usage: hack/cluster/down.sh             PURGE=1 removes keys, logs and HDFS's data too
# Leaves: no process, mount, namespace or cgroup; the caches, and without PURGE=1 keys, logs and HDFS's data in
#         $HADOOPBENCH_CACHE/state.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"
source "$ROOT/hack/cluster/control-plane.sh"
source "$ROOT/hack/cluster/node.sh"
source "$ROOT/hack/cluster/clean.sh"

require_root
SECONDS=0
net_claim # dies if what is running belongs to another cache
"$ROOT/hack/hadoop/down.sh" &
hdfs=$!
with_lock cluster cluster_clean
wait $hdfs
with_lock net net_down
if [[ ${PURGE:-0} == 1 ]]; then rm -rf "$STATE"; fi
log "the cluster is down after $SECONDS s"
