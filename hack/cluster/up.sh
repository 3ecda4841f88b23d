#!/usr/bin/env bash
# Starts the local cluster: a real control plane and two real nodes in network namespaces of their own, which have no
# way out. Does nothing if it is up and healthy; after a crash it cleans up first.
#
# Usage: hack/cluster/up.sh       then hack/cluster/kubectl, helm, in-ns, node
# Leaves: processes, the namespaces hb, hb-1 and hb-2, cgroups of the same names, and $HADOOPBENCH_CACHE/state.
#         hack/cluster/down.sh takes all of it back. Every start is a new, empty cluster.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"
source "$ROOT/hack/cluster/pki.sh"
source "$ROOT/hack/cluster/control-plane.sh"
source "$ROOT/hack/cluster/node.sh"
source "$ROOT/hack/cluster/clean.sh"

nodes_ready() {
  local status
  status=$(k get nodes -o 'jsonpath={.items[*].status.conditions[?(@.type=="Ready")].status}')
  # A namespace's pods need its default service account, which comes a moment later.
  [[ $status == "${NODES[*]/*/True}" ]] && k -n default get serviceaccount default
}

healthy() {
  local name
  [[ $(cat "$STATE/binaries" 2>/dev/null) == "$BIN" ]] || return 1
  for name in "${CONTROL_PLANE[@]}" "${NODES[@]/#/node}"; do service_alive "$name" || return 1; done
  nodes_ready >/dev/null 2>&1
}

start() {
  local n
  if healthy; then
    log "the cluster is up"
    return
  fi
  SECONDS=0
  net_claim # before the cleaning, which goes by the namespaces' names
  cluster_clean
  net_up
  pki_up
  for n in "${NODES[@]}"; do
    node_net_up "$n"
    node_cgroup_up "$n"
    node_configure "$n"
    node_start "$n"
  done
  api_start
  WATCH=(etcd kube-apiserver "${NODES[@]/#/node}")
  wait_until 120 "API server" api_ready
  touch "$STATE/api-ready" # the nodes wait for it
  controllers_start
  WATCH+=(kube-controller-manager kube-scheduler)
  wait_until 120 "two Ready nodes; see $LOGS" nodes_ready
  echo "$BIN" >"$STATE/binaries"
  log "the cluster is up after $SECONDS s: hack/cluster/kubectl get nodes"
}

require_root
# A Unix socket's path has at most 107 characters.
((${#STATE} < 80)) || die "HADOOPBENCH_CACHE is too long for Unix sockets below it; set a shorter one"
BIN=$("$ROOT/hack/cluster/build.sh")
PAUSE_IMAGE=$("$ROOT/hack/image/build.sh" pause)
export PAUSE_IMAGE
modprobe -a overlay br_netfilter 2>/dev/null || true # mostly built in or loaded
with_lock cluster start
