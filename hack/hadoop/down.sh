#!/usr/bin/env bash
# Stops HDFS.
#
# Usage: hack/hadoop/down.sh
# Leaves: its data and logs in $HADOOPBENCH_CACHE/state, and namespace hb, which hack/cluster/down.sh removes.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"
source "$ROOT/hack/hadoop/lib.sh"

require_root
with_lock hdfs service_stop 10 "${HDFS_SERVICES[@]}"
