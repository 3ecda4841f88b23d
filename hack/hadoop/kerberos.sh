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

PROTECTIONS=(authentication integrity privacy) # on ports counted from these
RPC_PORT=8320
HTTP_PORT=9990
KRB=$STATE/krb
KDC=kdc
KDC_PORT=8388
PRINCIPALS=(alice bob "nn/$CP_IP" "dn/$CP_IP")
source "$ROOT/hack/hadoop/kdc.sh"

usage() { die "usage: hack/hadoop/kerberos.sh up [PROTECTION]... | as PRINCIPAL CLASS [ARG]... | down"; }

index_of() { # PROTECTION
  local i
  for i in "${!PROTECTIONS[@]}"; do
    if [[ ${PROTECTIONS[i]} == "$1" ]]; then echo "$i"; return; fi
  done
  die "no protection $1; there are: ${PROTECTIONS[*]}"
}

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

services() { hadoop_services | grep -E "^($KDC\$|namenode-krb-)" || true; }

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

# java_client CLASS [ARG]...: with the ticket that KRB5CCNAME names.
java_client() { HDFS_CLIENT=client-krb run_java -Xmx256m -Djava.security.krb5.conf="$KRB5_CONFIG" "$@"; }

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
    logged_in "$2" java_client "${@:3}"
    ;;
  down) with_lock hdfs-krb down ;;
  *) usage ;;
esac
