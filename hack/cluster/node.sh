# shellcheck shell=bash disable=SC2034,SC2153  # sourced: its variables are used, and come from, elsewhere
# The nodes: network, cgroups, configuration and start of each. Source it after hack/lib.sh and pki.sh.
#
# A node is a set of namespaces (network, mount, host name, pids) around node-init.sh. When that first process ends, the
# kernel ends everything in the node and drops its mounts, however it came to an end.

node_ip() { echo "198.18.0.$((10 + $1))"; }
node_pods() { echo "198.19.$1.0/24"; }
node_dir() { echo "$STATE/node$1"; }

# node_init_pid N: the process that is pid 1 inside node N.
node_init_pid() {
  local pid
  pid=$(service_pid "node$1") && cat "/proc/$pid/task/$pid/children"
}

node_net_up() { # N
  local ns=$NS-$1 ip
  ip=$(node_ip "$1")
  ip netns add "$ns"
  in_ns "$ns" ip link set lo up
  in_ns "$NS" ip link add "cl$1" type veth peer name eth0 netns "/run/netns/$ns"
  in_ns "$NS" ip link set "cl$1" master cl0 up
  in_ns "$ns" ip addr add "$ip/24" dev eth0
  in_ns "$ns" ip link set eth0 up
  in_ns "$ns" ip route add default via "$CP_IP"
  in_ns "$ns" sh -c 'echo 1 >/proc/sys/net/ipv4/ip_forward'
  in_ns "$NS" ip route replace "$(node_pods "$1")" via "$ip" # the other nodes go through $NS, their default route
}

# node_net_down N: the link is deleted by hand, since the kernel takes its time with a dead namespace's own.
node_net_down() {
  if [[ -e /run/netns/$NS ]]; then in_ns "$NS" ip link del "cl$1" 2>/dev/null || true; fi
  if [[ -e /run/netns/$NS-$1 ]]; then ip netns del "$NS-$1"; fi
}

# cgroup_roots: the top directory of each hierarchy: version 2 has one, version 1 one per controller, a hybrid both.
cgroup_roots() { awk '$3 == "cgroup" || $3 == "cgroup2" {print $2}' /proc/mounts; }

# node_cgroup_up N: a cgroup root for this node's kubelet, so that two of them do not meet.
node_cgroup_up() {
  local root dir controller file
  for root in $(cgroup_roots); do
    dir=$root/$NS-$1
    mkdir -p "$dir"
    for file in cpuset.cpus cpuset.mems; do # version 1 leaves these empty, and then nothing may run there
      if [[ -e $dir/$file && -e $root/$file ]]; then cat "$root/$file" >"$dir/$file"; fi
    done
    if [[ -e $root/cgroup.controllers ]]; then
      for controller in $(<"$root/cgroup.controllers"); do
        echo "+$controller" >"$root/cgroup.subtree_control" 2>/dev/null || true
      done
    fi
  done
}

# node_cgroup_down N: the processes in it are gone by now; the kernel may need a moment to see that.
node_cgroup_down() {
  local root
  for root in $(cgroup_roots); do
    [[ -d $root/$NS-$1 ]] || continue
    wait_until 10 "empty cgroup $root/$NS-$1" find "$root/$NS-$1" -depth -type d -exec rmdir {} + || true
    [[ ! -d $root/$NS-$1 ]] || log "cgroup $root/$NS-$1 is still in use"
  done
}

node_configure() { # N
  local dir
  dir=$(node_dir "$1")
  mkdir -p "$dir"/{cni,var-lib/kubelet,var-lib/containerd,var-log}
  cat >"$dir/cni/10-bridge.conflist" <<JSON
{"cniVersion": "1.0.0", "name": "pods", "plugins": [
  {"type": "bridge", "bridge": "cni0", "isGateway": true, "ipMasq": false, "hairpinMode": true,
   "ipam": {"type": "host-local", "ranges": [[{"subnet": "$(node_pods "$1")"}]], "routes": [{"dst": "0.0.0.0/0"}]}},
  {"type": "portmap", "capabilities": {"portMappings": true}}]}
JSON
  cat >"$dir/containerd.toml" <<TOML
version = 2
disabled_plugins = ["io.containerd.snapshotter.v1.btrfs", "io.containerd.snapshotter.v1.zfs",
  "io.containerd.snapshotter.v1.devmapper", "io.containerd.snapshotter.v1.aufs"]
[grpc]
  address = "$dir/containerd.sock"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "localhost/pause:1"
  restrict_oom_score_adj = true
  disable_apparmor = true
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "$(cni_bin_dir)"
    conf_dir = "$dir/cni"
TOML
  kubelet_config "$1" >"$dir/kubelet.yaml"
}

# kubelet_config N. failCgroupV1: kubelet 1.37 still runs on version 1 but wants to be asked. clusterDNS: there is no
# DNS; an address where nothing listens makes a lookup fail at once, and an empty list makes a warning event per pod.
kubelet_config() {
  local dir
  dir=$(node_dir "$1")
  cat <<YAML
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
failCgroupV1: false
cgroupDriver: cgroupfs
cgroupRoot: /$NS-$1
containerRuntimeEndpoint: unix://$dir/containerd.sock
address: $(node_ip "$1")
authentication: {anonymous: {enabled: false}, webhook: {enabled: true}, x509: {clientCAFile: $PKI/ca.crt}}
authorization: {mode: Webhook}
tlsCertFile: $PKI/node$1.crt
tlsPrivateKeyFile: $PKI/node$1.key
clusterDomain: cluster.local
clusterDNS: [127.0.0.1]
resolvConf: ""
failSwapOn: false
makeIPTablesUtilChains: false
serializeImagePulls: false
imageGCHighThresholdPercent: 100
evictionHard: {nodefs.available: "1%", imagefs.available: "1%", memory.available: 50Mi}
volumePluginDir: $dir/volume-plugins
syncFrequency: 10s
YAML
}

# node_start N: node-init.sh brings up containerd at once and the kubelet when the API server is ready.
node_start() {
  service_start "node$1" nsenter --net="/run/netns/$NS-$1" \
    unshare --mount --uts --pid --fork --kill-child=KILL --mount-proc --propagation private \
    bash "$ROOT/hack/cluster/node-init.sh" "$1"
}

# node_stop N...: ends whole nodes. Nothing in them gets a chance to shut down: their state is thrown away. What is in the
# node's network namespace includes its first process, and with that one go the pods too.
node_stop() {
  local n
  for n in "$@"; do
    [[ -e /run/netns/$NS-$n ]] || continue
    ip netns pids "$NS-$n" | xargs -r kill -9 2>/dev/null || true # some end before their turn
  done
  for n in "$@"; do
    [[ ! -e /run/netns/$NS-$n ]] || wait_until 20 "end of node $n" node_empty "$n"
    rm -f "$PIDS/node$n"
  done
}

node_empty() { [[ -z $(ip netns pids "$NS-$1") ]]; }
