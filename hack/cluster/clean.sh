# shellcheck shell=bash disable=SC2034,SC2153  # sourced: its variables are used, and come from, elsewhere
# Takes back what up.sh made, whole or half, running or crashed. Source it after control-plane.sh and node.sh.

# cluster_clean: leaves namespace $NS alone, since HDFS may be running or starting in it.
cluster_clean() {
  local n
  node_stop "${NODES[@]}"
  service_stop 15 kube-scheduler kube-controller-manager kube-apiserver
  service_stop 15 etcd
  for n in "${NODES[@]}"; do
    node_net_down "$n"
    node_cgroup_down "$n"
    rm -rf "$(node_dir "$n")"
  done
  rm -rf "$STATE/etcd" "$STATE/api-ready" "$STATE/binaries" "$STATE/volume-plugins"
}
