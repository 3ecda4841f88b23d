#!/usr/bin/env bash
# HBase in one JVM: ZooKeeper, master and RegionServer together, empty, with its data in a local directory. Each name
# stands for a version, and all of them can run at once, beside the cluster of up.sh.
#
# Usage: hack/hbase/standalone.sh up NAME [-D PROPERTY=VALUE]...     NAME is 2.6, 2.5 or 1.7; a running one is replaced
#        hack/hbase/standalone.sh down NAME...
#        HDFS_JAVA_OPTIONS=...: as for hack/hadoop/up.sh
#        conf/client-NAME describes it to a client; ports: see lib.sh; counters at http://198.18.0.1:16130/jmx and so on
# Leaves: one process each, namespace hb, and $HADOOPBENCH_CACHE/state/hbase-NAME. down.sh stops them too.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"
source "$ROOT/hack/hadoop/lib.sh"
source "$ROOT/hack/hbase/lib.sh"

declare -A VERSION=([2.6]=2.6.4-hadoop3 [2.5]=2.5.10-hadoop3 [1.7]=1.7.2) INDEX=([2.6]=1 [2.5]=2 [1.7]=3)

usage() { die "usage: hack/hbase/standalone.sh up NAME [-D PROPERTY=VALUE]... | down NAME...; names: ${!VERSION[*]}"; }

up() { # NAME [-D PROPERTY=VALUE]...
  local name=$1
  SECONDS=0
  service_stop 0 "hbase-$name"
  net_up
  hosts_file
  start_local "$name" "${INDEX[$name]}" "$HBASE_CONF/server" $MASTER_CLASS "${@:2}"
  wait_initialized "hbase-$name"
  log "HBase $name ($HBASE_VERSION) is up after $SECONDS s: $HBASE_CONF/client-$name"
}

# down NAME...: without time to end well; nobody wants the data.
down() {
  service_stop 0 "${@/#/hbase-}"
  rm -rf "${@/#/$STATE/hbase-}"
}

require_root
(($# >= 2)) || usage
for name in "${@:2}"; do
  [[ -n ${VERSION[$name]:-} ]] || usage
  [[ $1 == down ]] || break
done
case $1 in
  up)
    use_hbase "${VERSION[$2]}"
    HBASE_VERSION=$HBASE_VERSION "$ROOT/hack/hbase/fetch.sh"
    with_lock "hbase-$2" up "${@:2}"
    ;;
  down) down "${@:2}" ;;
  *) usage ;;
esac
