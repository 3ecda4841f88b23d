# shellcheck shell=bash disable=SC2034,SC2153  # sourced: its variables are used, and come from, elsewhere
# Shared by the scripts under hack/: where things lie, messages, waiting, locks, and processes kept by pid file.
#
# Usage: source it. It starts nothing and changes nothing by itself.
#
#   HADOOPBENCH_CACHE   all that is built, fetched or running; default ${XDG_CACHE_HOME:-$HOME/.cache}/hadoop-bench-operator
#     bin/KEY/          Kubernetes, etcd, helm, kwok, kubectl; KEY is a hash of what they are built from
#     hadoop/VERSION/   Hadoop's libraries and one formatted name directory
#     hbase/VERSION/    HBase's libraries and our tools for it; ycsb/ the original YCSB
#     images/           image archives, one per content; jre/ what the image of Hadoop has from Debian
#     logs/             output of test phases
#     state/            the one local cluster of this machine: pids, logs, keys, etcd, nodes, data of HDFS and HBase,
#                       Kerberos realms

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
CACHE=${HADOOPBENCH_CACHE:-${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/hadoop-bench-operator}
STATE=$CACHE/state
PIDS=$STATE/pids
LOGS=$STATE/logs
export HADOOPBENCH_CACHE=$CACHE

# The network: 198.18.0.0/15 is reserved for benchmarks and so never collides with a real one.
NS=hb                      # namespace of the control plane and of HDFS; node N lives in $NS-N
NODES=(1 2)
CP_IP=198.18.0.1           # bridge cl0 in $NS
API_PORT=6443
SERVICE_CIDR=198.18.64.0/20
SERVICE_IP=198.18.64.1     # first of SERVICE_CIDR: the API server as pods see it

log() { printf '%s\n' "$*" >&2; }
die() { log "error: $*"; exit 1; }

require_root() {
  [[ $(uname -s) == Linux ]] || die "the local cluster needs Linux (network namespaces, cgroups)"
  [[ $EUID -eq 0 ]] || die "the local cluster needs root: run it with sudo -E"
}

# version_at_least HAVE WANT: compares dotted versions.
version_at_least() { [[ $(printf '%s\n%s\n' "$2" "$1" | sort -V | head -n1) == "$2" ]]; }

# wait_until SECONDS WHAT CMD...: polls CMD; fails with a message that names WHAT, or at once when one of the services
# in WATCH has died.
WATCH=()
wait_until() {
  local limit=$1 what=$2 end
  shift 2
  end=$((SECONDS + limit))
  until "$@" >/dev/null 2>&1; do
    require_alive "${WATCH[@]}" || return 1
    ((SECONDS < end)) || { log "timeout after $limit s: $what"; return 1; }
    sleep 0.2
  done
}

# with_lock NAME CMD...: runs CMD in a subshell while no other script holds NAME.
with_lock() {
  local name=$1
  shift
  mkdir -p "$STATE"
  (
    flock 9
    "$@"
  ) 9>"$STATE/$name.lock"
}

# together COMMAND...: runs all at once; fails if one of them does. A command with arguments is one word: "f a b".
together() {
  local command pid pids=() failed=0
  for command in "$@"; do
    $command &
    pids+=($!)
  done
  for pid in "${pids[@]}"; do wait "$pid" || failed=1; done
  return $failed
}

# ---- processes ----
# A pid file holds "pid start-time boot-id". A pid alone may belong to a stranger by the time it is used.

process_start() { # PID: its start time in clock ticks since boot; fails if it is gone or a zombie
  local stat
  { read -r stat <"/proc/$1/stat"; } 2>/dev/null || return 1
  stat=${stat##*) } # the command's name may hold blanks
  local fields
  read -ra fields <<<"$stat"
  [[ ${fields[0]} != Z ]] && echo "${fields[19]}"
}

boot_id() { cat /proc/sys/kernel/random/boot_id; }

# service_pid NAME: prints the pid if the process is still the one that was started.
service_pid() {
  local pid start boot
  { read -r pid start boot <"$PIDS/$1"; } 2>/dev/null || return 1
  [[ $boot == "$(boot_id)" && $start == "$(process_start "$pid")" ]] && echo "$pid"
}

service_alive() { service_pid "$1" >/dev/null; }

# service_start NAME CMD...: in a session of its own, so that an interrupt at the terminal does not reach it, and
# without descriptor 9, which would keep a lock of ours held for as long as the service lives.
service_start() {
  local name=$1 pid
  shift
  mkdir -p "$PIDS" "$LOGS"
  setsid nohup "$@" >"$LOGS/$name.log" 2>&1 </dev/null 9>&- &
  pid=$!
  echo "$pid $(process_start "$pid" || echo gone) $(boot_id)" >"$PIDS/$name"
}

# service_stop SECONDS NAME...: asks all of them at once to end, and ends what is left after SECONDS.
service_stop() {
  local limit=$1 name pid pids=() end
  shift
  for name in "$@"; do
    if pid=$(service_pid "$name"); then
      kill "$pid" 2>/dev/null || true
      pids+=("$pid")
    fi
  done
  end=$((SECONDS + limit))
  for pid in "${pids[@]}"; do
    while process_start "$pid" >/dev/null && ((SECONDS < end)); do sleep 0.1; done
    if process_start "$pid" >/dev/null; then kill -9 "$pid" 2>/dev/null || true; fi
    while process_start "$pid" >/dev/null; do sleep 0.05; done
  done
  for name in "$@"; do rm -f "$PIDS/$name"; done
}

# require_alive NAME...: fails with the end of the log of the first one that has died.
require_alive() {
  local name
  for name in "$@"; do
    service_alive "$name" && continue
    log "$name has died; the end of $LOGS/$name.log:"
    tail -n 20 "$LOGS/$name.log" >&2
    return 1
  done
}

# ---- network namespaces ----
# Never `ip netns exec` here: it remounts /sys and so hides the cgroups from what it starts.
in_ns() { nsenter --net="/run/netns/$1" "${@:2}"; }

# net_up: the namespace $NS with its bridge; nothing in it has a way out. Shared by the cluster and HDFS.
net_up() { with_lock net net_up_locked; }

net_up_locked() {
  net_claim
  [[ -e /run/netns/$NS ]] || ip netns add $NS
  in_ns "$NS" ip link set lo up
  in_ns "$NS" ip link show cl0 >/dev/null 2>&1 && return
  in_ns "$NS" ip link add cl0 type bridge
  in_ns "$NS" ip addr add $CP_IP/24 dev cl0
  in_ns "$NS" ip link set cl0 up
  # kube-apiserver looks for a default route; this one leads nowhere.
  in_ns "$NS" ip route add default dev cl0
  in_ns "$NS" sh -c 'echo 1 >/proc/sys/net/ipv4/ip_forward'
}

# net_claim: the namespaces' names are the machine's, so only one cache may use them at a time.
OWNER=/run/hadoop-bench-operator.owner
net_claim() {
  local owner name
  owner=$(cat $OWNER 2>/dev/null || echo "$CACHE")
  if [[ $owner != "$CACHE" ]]; then
    for name in "$owner"/state/pids/*; do
      PIDS=${name%/*} service_alive "${name##*/}" || continue
      die "another local cluster is running; stop it first: HADOOPBENCH_CACHE=$owner hack/cluster/down.sh"
    done
  fi
  echo "$CACHE" >$OWNER
}

net_down() {
  local pid
  if [[ -e /run/netns/$NS ]]; then
    for pid in $(ip netns pids $NS); do
      log "still running in namespace $NS: $pid $(tr '\0' ' ' <"/proc/$pid/cmdline")"
    done
    ip netns del $NS
  fi
  rm -f $OWNER
}

# ---- binaries ----
KUBERNETES_VERSION=v1.37.2 # of k8s.io/kubernetes in hack/cluster/kubernetes/go.mod

# kubernetes_ldflags: without these variables the binaries call themselves v0.0.0-master, which kubectl and kubelets
# take for an incompatible version.
kubernetes_ldflags() {
  local package flags="-s -w" component=k8s.io/component-base/version
  for package in $component k8s.io/client-go/pkg/version; do
    flags+=" -X $package.gitVersion=$KUBERNETES_VERSION -X $package.gitMajor=1 -X $package.gitMinor=37"
  done
  flags+=" -X $component.gitTreeState=clean -X $component.gitCommit=0000000000000000000000000000000000000000"
  flags+=" -X $component.buildDate=2026-01-01T00:00:00Z" # fixed: a date would defeat the build cache
  echo "$flags"
}

# bin_dir: where hack/cluster/build.sh puts the binaries, by a hash of all that decides what they are.
bin_dir() {
  local key
  key=$({ cat "$ROOT"/hack/cluster/kubernetes/go.{mod,sum} && kubernetes_ldflags; } | sha256sum | cut -c1-12)
  echo "$CACHE/bin/$key"
}

# cni_bin_dir: where the CNI plugins lie: Debian's package, or the place that containerd's own releases use.
cni_bin_dir() {
  local dir
  for dir in /usr/lib/cni /opt/cni/bin; do
    [[ -x $dir/bridge && -x $dir/host-local ]] && { echo $dir; return; }
  done
  return 1
}
