# shellcheck shell=bash disable=SC2034,SC2153  # sourced: its variables are used, and come from, elsewhere
# Shared by the scripts of hack/peers: where YCSB lies. Source it after hack/hbase/lib.sh.

YCSB_DIR=$CACHE/ycsb
