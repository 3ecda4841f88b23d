#!/usr/bin/env bash
# The first process of a node: gives it its own directories, then runs containerd, the kubelet and kube-proxy, and
# starts each again when it ends, as systemd would. node.sh starts it inside the node's namespaces.
#
# Usage: node-init.sh N
# Leaves: nothing but files under $HADOOPBENCH_CACHE/state/nodeN; mounts and processes end with it.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"
source "$ROOT/hack/cluster/pki.sh"
source "$ROOT/hack/cluster/node.sh"

n=$1
name=node$n
dir=$(node_dir "$n")
bin=$(bin_dir)

# Two nodes on one machine must not meet in /run, /var/lib/kubelet, /var/log/pods and the like. Within the node mounts
# are shared, as the kubelet's mount propagation expects.
own_directories() {
  hostname "$name"
  mount --make-rshared /
  mount -t tmpfs -o mode=755 tmpfs /run
  mount --bind "$dir/var-lib" /var/lib
  mount --bind "$dir/var-log" /var/log
}

# supervise NAME CMD...: in the background, with its own log.
supervise() {
  local service=$1
  shift
  while true; do
    "$@" || echo "$service ended with $?"
    sleep 1
  done >>"$LOGS/$service$n.log" 2>&1 &
}

run_kubelet() {
  supervise kubelet "$bin/kubelet" --config "$dir/kubelet.yaml" --kubeconfig "$PKI/$name.kubeconfig" \
    --hostname-override "$name" --node-ip "$(node_ip "$n")"
}

# The conntrack limits are the machine's, not the node's: leave them alone.
run_kube_proxy() {
  supervise kube-proxy "$bin/kube-proxy" --kubeconfig "$PKI/proxy.kubeconfig" --proxy-mode=nftables \
    --hostname-override "$name" --nodeport-addresses primary --conntrack-max-per-core=0 \
    --conntrack-tcp-timeout-established=0 --conntrack-tcp-timeout-close-wait=0
}

own_directories
supervise containerd containerd --config "$dir/containerd.toml"
wait_until 60 "containerd of $name" ctr -a "$dir/containerd.sock" version
ctr -a "$dir/containerd.sock" -n k8s.io images import "$PAUSE_IMAGE"
wait_until 180 "the API server" test -e "$STATE/api-ready"
run_kubelet
run_kube_proxy
wait
