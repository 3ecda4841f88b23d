#!/usr/bin/env bash
# Stops all HBase that the scripts beside it started, and its KDC. HDFS stays.
#
# Usage: hack/hbase/down.sh
# Leaves: data and logs in $HADOOPBENCH_CACHE/state, and namespace hb, which hack/cluster/down.sh removes.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"
source "$ROOT/hack/hadoop/lib.sh"
source "$ROOT/hack/hbase/lib.sh"

# stop_all: without time to end well, since every start is empty.
stop_all() {
  local file services=()
  for file in "$PIDS"/hbase-*; do
    if [[ -e $file ]]; then services+=("${file##*/}"); fi
  done
  service_stop 0 "${services[@]}"
}

require_root
with_lock hbase stop_all
