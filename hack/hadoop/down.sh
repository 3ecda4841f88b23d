#!/usr/bin/env bash
# Stops all that the scripts beside it started: HDFS, lone NameNodes, the HA pair and the Kerberos realm.
#
# Usage: hack/hadoop/down.sh
# Leaves: data and logs in $HADOOPBENCH_CACHE/state, and namespace hb, which hack/cluster/down.sh removes.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"
source "$ROOT/hack/hadoop/lib.sh"

stop_all() {
  local services
  mapfile -t services < <(hadoop_services)
  service_stop 10 "${services[@]}"
}

require_root
with_lock hdfs stop_all
