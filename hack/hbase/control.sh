#!/usr/bin/env bash
# What tests do to the cluster of up.sh while it works. RegionServer N is 1 or 2, with RPC port 1602N and web port 1603N.
#
# Usage: hack/hbase/control.sh kill9 N          without warning; its regions are served again after about 15 s
#        hack/hbase/control.sh stop N           as an administrator does it: it closes its regions first
#        hack/hbase/control.sh freeze N         keeps its connections and does nothing, until it is let go on; after 10 s its
#                                               regions are served elsewhere, and it ends itself when it is let go on
#        hack/hbase/control.sh thaw N           lets it go on
#        hack/hbase/control.sh start N          ends when it is ready for regions; running already, it stays as it is
#        hack/hbase/control.sh list             a line per RegionServer: number, RPC address, web address, up or down
#        hack/hbase/control.sh throttle BYTES   what compactions that start from now on may write per second and
#                                               RegionServer
#        hack/hbase/control.sh off              what it was before
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"
source "$ROOT/hack/hadoop/lib.sh"
source "$ROOT/hack/hbase/lib.sh"

usage() { die "usage: hack/hbase/control.sh kill9|stop|freeze|thaw|start N | list | throttle BYTES | off"; }

# signal SIGNAL N
signal() {
  local pid
  pid=$(service_pid "hbase-rs$2") || die "RegionServer $2 is not running"
  kill "-$1" "$pid"
}

start() {
  ! service_alive "hbase-rs$1" || return 0
  SECONDS=0
  start_regionserver "$1"
  WATCH=("hbase-rs$1")
  wait_until 120 "RegionServer $1; see $LOGS/hbase-rs$1.log" says "hbase-rs$1" "Serving as"
  log "RegionServer $1 is up after $SECONDS s"
}

list() {
  local n
  for n in "${REGIONSERVERS[@]}"; do
    echo "$n $CP_IP:$((16020 + n)) $CP_IP:$((16030 + n)) $(if service_alive "hbase-rs$n"; then echo up; else echo down; fi)"
  done
}

# throttle LOWER HIGHER: between the two HBase chooses by how many store files wait.
throttle() {
  sed -E -i "$(bound lower "$1");$(bound higher "$2")" "$HBASE_STATE/conf/hbase-site.xml"
  HBASE_CLIENT=client "$ROOT/hack/hbase/table" reload
}

bound() { echo "/throughput\.$1\.bound</,/<value>/s|<value>[0-9]*|<value>$2|"; } # WHICH BYTES

require_root
case ${1:-} in
  kill9 | stop | freeze | thaw | start) [[ " ${REGIONSERVERS[*]} " == *" ${2:-} "* ]] || usage ;;
  throttle) [[ ${2:-} =~ ^[0-9]+$ ]] || usage ;;
esac
case ${1:-} in
  kill9) signal KILL "$2" ;;
  freeze) signal STOP "$2" ;;
  thaw) signal CONT "$2" ;;
  stop) service_stop 60 "hbase-rs$2" ;;
  start) start "$2" ;;
  list) list ;;
  throttle) throttle "$2" "$2" ;;
  off) throttle 52428800 104857600 ;;
  *) usage ;;
esac
