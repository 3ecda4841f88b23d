#!/usr/bin/env bash
# Builds Kubernetes, etcd, helm, kwok, kubectl and controller-gen from the Go modules that kubernetes/go.mod pins.
#
# Usage: hack/cluster/build.sh        prints the directory of the binaries
# Leaves: $HADOOPBENCH_CACHE/bin/KEY, complete or not at all. KEY is a hash of go.mod, go.sum and the flags, so a
# second checkout with the same pins builds nothing. A cold build takes 10 to 20 minutes on two cores.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"

# progress DIR TOTAL: one line every 15 s, until it is killed or this script has gone.
progress() {
  while sleep 15 && kill -0 $$ 2>/dev/null; do
    log "building Kubernetes ${KUBERNETES_VERSION#v}: $SECONDS s, $(find "$1" -type f | wc -l) of $2 binaries"
  done
}

build() {
  local out=$1 tmp tools ticker status=0
  [[ ! -d $out ]] || return 0 # another script built it while this one waited for the lock
  mkdir -p "$CACHE/bin"
  rm -rf "$CACHE"/bin/.build.* # of a build that was interrupted
  tmp=$(mktemp -d "$CACHE/bin/.build.XXXXXX")
  cd "$ROOT/hack/cluster/kubernetes"
  export CGO_ENABLED=0 GOWORK=off GOFLAGS=-buildvcs=false
  mapfile -t tools < <(go list -mod=readonly tool)
  SECONDS=0
  progress "$tmp" "${#tools[@]}" 9>&- &
  ticker=$!
  # One call: packages that several binaries share are compiled once, and links overlap with compiling.
  go build -mod=readonly -trimpath -ldflags "$(kubernetes_ldflags)" -o "$tmp/" "${tools[@]}" || status=$?
  kill $ticker
  if ((status)); then
    rm -rf "$tmp"
    die "building Kubernetes failed after $SECONDS s (go's message is above)"
  fi
  mv "$tmp/server" "$tmp/etcd" # etcd's main package is called server
  chmod 755 "$tmp"
  mv -T "$tmp" "$out"
  log "built Kubernetes ${KUBERNETES_VERSION#v} (${#tools[@]} binaries) in $SECONDS s"
}

out=$(bin_dir)
[[ -d $out ]] || with_lock build build "$out"
echo "$out"
