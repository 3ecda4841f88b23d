# shellcheck shell=bash disable=SC2034,SC2153,SC2154  # sourced: its variables are used, and come from, elsewhere
# A Kerberos realm of its own, HB.TEST, with its KDC on 198.18.0.1 in namespace hb. Nothing in /etc is read or changed.
#
# Usage: source it after hack/lib.sh and hack/hadoop/lib.sh, with
#   KRB          directory of the realm: krb5.conf and keytabs/NAME.keytab (NAME without the host)
#   KDC          name of the KDC's service and of its logs
#   KDC_PORT     where it listens
#   PRINCIPALS   who is in the realm, each with a key of its own

REALM=HB.TEST
export KRB5_CONFIG=$KRB/krb5.conf KRB5_KDC_PROFILE=$KRB/kdc.conf

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
  kdc = FILE:$LOGS/$KDC-requests.log
CONF
}

principals() {
  local principal
  for principal in "${PRINCIPALS[@]}"; do
    echo "addprinc -randkey $principal"
    echo "ktadd -k $(keytab "$principal") $principal"
  done
}

# start_kdc: makes the realm anew and starts its KDC, which may not run.
start_kdc() {
  local made=$LOGS/$KDC-realm.log
  rm -rf "$KRB"
  mkdir -p "$KRB"/{database,keytabs} "$LOGS"
  client_configuration >"$KRB5_CONFIG"
  kdc_configuration >"$KRB5_KDC_PROFILE"
  { kdb5_util create -s -r $REALM -P local && principals | kadmin.local -r $REALM; } >"$made" 2>&1 ||
    { cat "$made" >&2; die "no realm"; }
  service_start "$KDC" nsenter --net="/run/netns/$NS" krb5kdc -n -r $REALM
  WATCH=("$KDC")
  wait_until 10 "the KDC; see $LOGS/$KDC.log" listens "$KDC_PORT"
}

# logged_in PRINCIPAL COMMAND...: runs COMMAND with a ticket that the principal's keytab got.
logged_in() {
  local cache status=0
  [[ -e $(keytab "$1") ]] || die "no keytab of $1: $0 up"
  cache=$(mktemp)
  export KRB5CCNAME=FILE:$cache
  in_ns "$NS" kinit -k -t "$(keytab "$1")" "$1"
  ("${@:2}") || status=$?
  rm -f "$cache"
  return $status
}
