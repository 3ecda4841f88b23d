#!/usr/bin/env bash
# The original YCSB, to compare the runner with: site.ycsb.Client and a binding for HBase's Java client. Its output goes
# to standard output and standard error as it is, and its exit code is Java's.
#
# Usage: hack/peers/ycsb.sh load|run WORKLOAD-FILE [OPTION]...     OPTION as of YCSB: -p NAME=VALUE, -threads N, -s, ...
#        e.g. hack/hbase/table create usertable family 8
#             hack/peers/ycsb.sh load workloada -p columnfamily=family -threads 8
#        -db site.ycsb.BasicDB     without a database
#        HBASE_CLIENT=client-2.5   takes the configuration in hack/hbase/conf/client-2.5 instead of conf/client
#        JDK_JAVA_OPTIONS=...      options of its JVM
# Leaves: what YCSB leaves in the table.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"
source "$ROOT/hack/hadoop/lib.sh"
source "$ROOT/hack/hbase/lib.sh"
source "$ROOT/hack/peers/lib.sh"

usage() { die "usage: hack/peers/ycsb.sh load|run WORKLOAD-FILE [OPTION]..."; }

(($# >= 2)) || usage
[[ -r $2 ]] || die "no workload file $2"
case $1 in
  load) phase=-load ;;
  run) phase=-t ;;
  *) usage ;;
esac
"$ROOT/hack/peers/fetch.sh" >&2
hosts_file
MORE_CLASSES="$YCSB_DIR/classes:$YCSB_DIR/lib/*" # the asterisk is for Java
run_hbase "${HBASE_CLIENT:-client}" -Xmx1g site.ycsb.Client "$phase" -db HBaseBinding -P "$2" "${@:3}"
