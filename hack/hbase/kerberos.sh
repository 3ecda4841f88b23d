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

REALM=HB.TEST
KDC_PORT=8389
KRB=$STATE/krb-hbase
PROTECTIONS=(authentication integrity privacy)
SERVER=hbase/$CP_IP
PRINCIPALS=(alice bob "$SERVER")
export KRB5_CONFIG=$KRB/krb5.conf KRB5_KDC_PROFILE=$KRB/kdc.conf

usage() { die "usage: hack/hbase/kerberos.sh up [PROTECTION]... | as PRINCIPAL COMMAND... | down"; }

keytab() { echo "$KRB/keytabs/${1%%/*}.keytab"; } # PRINCIPAL

# client_configuration: udp_preference_limit: only TCP, since it fails at once where nothing listens.
client_configuration() {
  cat <<CONF
[libdefaults]
  default_realm = $REALM
  dns_lookup_realm = false
  dns_lookup_kdc = false
  dns_canonicalize_hostname = false
  rdns = false
  udp_preference_limit = 1
[realms]
  $REALM = {
    kdc = $CP_IP:$KDC_PORT
  }
CONF
}

kdc_configuration() {
  cat <<CONF
[kdcdefaults]
  kdc_listen = $CP_IP:$KDC_PORT
  kdc_tcp_listen = $CP_IP:$KDC_PORT
[realms]
  $REALM = {
    database_name = $KRB/database/principal
    key_stash_file = $KRB/database/stash
    acl_file = $KRB/database/acl
    supported_enctypes = aes256-cts-hmac-sha1-96:normal aes128-cts-hmac-sha1-96:normal
  }
[logging]
  kdc = FILE:$LOGS/hbase-krb5kdc.log
CONF
}

principals() {
  local principal
  for principal in "${PRINCIPALS[@]}"; do
    echo "addprinc -randkey $principal"
    echo "ktadd -k $(keytab "$principal") $principal"
  done
}

start_kdc() {
  rm -rf "$KRB"
  mkdir -p "$KRB"/{database,keytabs} "$LOGS"
  client_configuration >"$KRB5_CONFIG"
  kdc_configuration >"$KRB5_KDC_PROFILE"
  { kdb5_util create -s -r $REALM -P local && principals | kadmin.local -r $REALM; } >"$LOGS/hbase-kadmin.log" 2>&1 ||
    { cat "$LOGS/hbase-kadmin.log" >&2; die "no realm"; }
  service_start hbase-kdc nsenter --net="/run/netns/$NS" krb5kdc -n -r $REALM
  WATCH=(hbase-kdc)
  wait_until 10 "the KDC; see $LOGS/hbase-kdc.log" listens $KDC_PORT
}

# up PROTECTIONS: with commas between them
up() {
  local role options=()
  SECONDS=0
  service_stop 0 hbase-krb hbase-kdc
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
  service_stop 0 hbase-krb hbase-kdc
  rm -rf "$KRB" "$STATE/hbase-krb"
}

# as PRINCIPAL COMMAND...
as() {
  local cache status=0
  [[ -e $(keytab "$1") ]] || die "no keytab of $1: hack/hbase/kerberos.sh up"
  cache=$(mktemp)
  export KRB5CCNAME=FILE:$cache
  in_ns "$NS" kinit -k -t "$(keytab "$1")" "$1"
  "${@:2}" || status=$?
  rm -f "$cache"
  return $status
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
    as "${@:2}"
    ;;
  down) with_lock hbase-krb down ;;
  *) usage ;;
esac
