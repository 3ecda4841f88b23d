#!/usr/bin/env bash
# A Kerberos realm of its own, HB.TEST, and in it HBase in one JVM. It accepts clients with each hbase.rpc.protection.
# conf/client-krb describes it to a client. Nothing in /etc is read or changed. It can run beside hack/hadoop/kerberos.sh,
# whose realm has the same name but another KDC.
#
# Usage: hack/hbase/kerberos.sh up [PROTECTION]...     authentication, integrity or privacy: accepts only these.
#                                                      What is running is replaced.
#        hack/hbase/kerberos.sh as PRINCIPAL COMMAND...     logged in from the principal's keytab, e.g.
#                               HBASE_CLIENT=client-krb hack/hbase/kerberos.sh as alice hack/hbase/table count t
#        hack/hbase/kerberos.sh down
#        Principals: alice, bob and hbase/198.18.0.1, the servers'
#        HDFS_JAVA_OPTIONS=...: as for hack/hadoop/up.sh
# Leaves: two processes, namespace hb, $HADOOPBENCH_CACHE/state/hbase-krb, and $HADOOPBENCH_CACHE/state/krb-hbase with
#         krb5.conf and keytabs/NAME.keytab (NAME without the host). down.sh stops them too.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"
source "$ROOT/hack/hadoop/lib.sh"
source "$ROOT/hack/hbase/lib.sh"

PROTECTIONS=(authentication integrity privacy)
SERVER=hbase/$CP_IP
KRB=$STATE/krb-hbase
KDC=hbase-kdc
KDC_PORT=8389
PRINCIPALS=(alice bob "$SERVER")
source "$ROOT/hack/hadoop/kdc.sh"

usage() { die "usage: hack/hbase/kerberos.sh up [PROTECTION]... | as PRINCIPAL COMMAND... | down"; }

# up PROTECTIONS: with commas between them
up() {
  local role options=()
  SECONDS=0
  service_stop 0 hbase-krb $KDC
  net_up
  hosts_file
  start_kdc
  options+=(-D hbase.masters=1) # their addresses for a client, but their number for servers in one JVM
  for role in master regionserver; do options+=(-D "hbase.$role.keytab.file=$(keytab "$SERVER")"); done
  start_local krb 4 "$HBASE_CONF/server:$HBASE_CONF/client-krb" -Djava.security.krb5.conf="$KRB5_CONFIG" $MASTER_CLASS \
    -conf "$HBASE_CONF/client-krb/hbase-site.xml" -D "hbase.rpc.protection=$1" "${options[@]}"
  wait_initialized hbase-krb
  log "realm $REALM is up after $SECONDS s, with HBase ($HBASE_VERSION) and $1"
}

down() {
  service_stop 0 hbase-krb $KDC
  rm -rf "$KRB" "$STATE/hbase-krb"
}

require_root
case ${1:-} in
  up)
    shift
    (($#)) || set -- "${PROTECTIONS[@]}"
    for protection in "$@"; do
      [[ " ${PROTECTIONS[*]} " == *" $protection "* ]] || die "no protection $protection; there are: ${PROTECTIONS[*]}"
    done
    "$ROOT/hack/hbase/fetch.sh"
    with_lock hbase-krb up "$(IFS=, && echo "$*")"
    ;;
  as)
    (($# >= 3)) || usage
    logged_in "${@:2}"
    ;;
  down) with_lock hbase-krb down ;;
  *) usage ;;
esac
