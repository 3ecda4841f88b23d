#!/usr/bin/env bash
# A Kerberos realm of its own, HB.TEST, and in it up to three lone NameNodes without DataNodes, one for each value of
# hadoop.rpc.protection. conf/client-krb describes them to a client. Nothing in /etc is read or changed.
#
# Usage: hack/hadoop/kerberos.sh up [PROTECTION]...   authentication, integrity or privacy; default: all three.
#                                                     What is running is replaced.
#        hack/hadoop/kerberos.sh as PRINCIPAL CLASS [ARG]...     a Java client, logged in from the principal's keytab, e.g.
#                                as alice org.apache.hadoop.fs.FsShell -ls hdfs://198.18.0.1:8322/
#        hack/hadoop/kerberos.sh down
#        hdfs://198.18.0.1:8320 (authentication), :8321 (integrity), :8322 (privacy); web 9990, 9991, 9992
#        Principals: alice, a superuser of HDFS, bob, who is nobody, nn/198.18.0.1 and dn/198.18.0.1, a DataNode to be
#        HADOOP_VERSION=3.3.6, HDFS_JAVA_OPTIONS=...: as for up.sh
# Leaves: four processes, namespace hb, and $HADOOPBENCH_CACHE/state/krb with krb5.conf and keytabs/NAME.keytab (NAME
#         without the host). down.sh stops them too.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"
source "$ROOT/hack/hadoop/lib.sh"

REALM=HB.TEST
KDC_PORT=8388
KRB=$STATE/krb
PROTECTIONS=(authentication integrity privacy) # on ports counted from these
RPC_PORT=8320
HTTP_PORT=9990
PRINCIPALS=(alice bob "nn/$CP_IP" "dn/$CP_IP")
export KRB5_CONFIG=$KRB/krb5.conf KRB5_KDC_PROFILE=$KRB/kdc.conf

usage() { die "usage: hack/hadoop/kerberos.sh up [PROTECTION]... | as PRINCIPAL CLASS [ARG]... | down"; }

index_of() { # PROTECTION
  local i
  for i in "${!PROTECTIONS[@]}"; do
    if [[ ${PROTECTIONS[i]} == "$1" ]]; then echo "$i"; return; fi
  done
  die "no protection $1; there are: ${PROTECTIONS[*]}"
}

# ---- KDC ----
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
  forwardable = true
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
    max_life = 10h
    max_renewable_life = 7d
    supported_enctypes = aes256-cts-hmac-sha1-96:normal aes128-cts-hmac-sha1-96:normal
  }
[logging]
  kdc = FILE:$LOGS/krb5kdc.log
CONF
}

keytab() { echo "$KRB/keytabs/${1%%/*}.keytab"; } # PRINCIPAL

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
  kdb5_util create -s -r $REALM -P local >"$LOGS/kdb5_util.log" 2>&1 || { cat "$LOGS/kdb5_util.log" >&2; die "no realm"; }
  principals | kadmin.local -r $REALM >"$LOGS/kadmin.log" 2>&1 || { cat "$LOGS/kadmin.log" >&2; die "no principals"; }
  service_start kdc nsenter --net="/run/netns/$NS" krb5kdc -n -r $REALM
  WATCH=(kdc)
  wait_until 10 "the KDC; see $LOGS/kdc.log" listens $KDC_PORT
}

# ---- NameNodes ----
start_namenode() { # PROTECTION
  local i
  i=$(index_of "$1")
  HDFS_STATE=$STATE/hdfs-krb-$1
  rm -rf "$HDFS_STATE"
  empty_name "$HDFS_STATE/name"
  # Block tokens: a secured NameNode does not start without them.
  start_java "namenode-krb-$1" 384m -Djava.security.krb5.conf="$KRB5_CONFIG" $NAMENODE_CLASS \
    -conf "$HADOOP_CONF/client-krb/core-site.xml" -conf "$HADOOP_CONF/client-krb/hdfs-site.xml" \
    -D "fs.defaultFS=hdfs://$CP_IP:$((RPC_PORT + i))" -D "dfs.namenode.rpc-address=$CP_IP:$((RPC_PORT + i))" \
    -D "dfs.namenode.http-address=$CP_IP:$((HTTP_PORT + i))" -D dfs.namenode.fs-limits.min-block-size=16 \
    -D "hadoop.rpc.protection=$1" -D "dfs.namenode.keytab.file=$(keytab nn)" -D dfs.block.access.token.enable=true \
    -D "hadoop.user.group.static.mapping.overrides=alice=supergroup"
}

# active PROTECTION
active() {
  local i
  i=$(index_of "$1")
  listens $((RPC_PORT + i)) && jmx "$CP_IP:$((HTTP_PORT + i))" NameNodeStatus State active
}

services() { hadoop_services | grep -E '^(kdc$|namenode-krb-)' || true; }

stop() {
  local running
  mapfile -t running < <(services)
  service_stop 10 "${running[@]}"
}

up() { # PROTECTION...
  local protection
  SECONDS=0
  stop
  net_up
  hosts_file
  start_kdc
  for protection in "$@"; do start_namenode "$protection"; done
  mapfile -t WATCH < <(services)
  for protection in "$@"; do wait_until 120 "NameNode $protection; see $LOGS" active "$protection"; done
  log "realm $REALM is up after $SECONDS s, with NameNodes ($HADOOP_VERSION): $*"
}

down() {
  stop
  rm -rf "$KRB" "$STATE"/hdfs-krb-*
}

# as PRINCIPAL CLASS [ARG]...
as() {
  local cache status=0
  [[ -e $(keytab "$1") ]] || die "no keytab of $1: hack/hadoop/kerberos.sh up"
  cache=$(mktemp)
  export KRB5CCNAME=FILE:$cache
  in_ns "$NS" kinit -k -t "$(keytab "$1")" "$1"
  (HDFS_CLIENT=client-krb run_java -Xmx256m -Djava.security.krb5.conf="$KRB5_CONFIG" "${@:2}") || status=$?
  rm -f "$cache"
  return $status
}

require_root
case ${1:-} in
  up)
    shift
    (($#)) || set -- "${PROTECTIONS[@]}"
    for protection in "$@"; do index_of "$protection" >/dev/null; done
    "$ROOT/hack/hadoop/fetch.sh"
    with_lock hdfs-krb up "$@"
    ;;
  as)
    (($# >= 3)) || usage
    as "${@:2}"
    ;;
  down) with_lock hdfs-krb down ;;
  *) usage ;;
esac
