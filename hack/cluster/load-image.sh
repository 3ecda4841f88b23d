#!/usr/bin/env bash
# Puts image archives (OCI or docker) into both nodes of the local cluster.
#
# Usage: hack/cluster/load-image.sh ARCHIVE...
# Leaves: the images in the nodes, under the names that the archives give them, until the cluster is stopped.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"
source "$ROOT/hack/cluster/node.sh"

load() { # N ARCHIVE...
  local archive
  for archive in "${@:2}"; do
    ctr -a "$(node_dir "$1")/containerd.sock" -n k8s.io images import "$archive" >/dev/null
  done
}

(($#)) || die "usage: hack/cluster/load-image.sh ARCHIVE..."
loads=()
for n in "${NODES[@]}"; do
  service_alive "node$n" || die "node $n is not running: hack/cluster/up.sh"
  load "$n" "$@" &
  loads+=($!)
done
for pid in "${loads[@]}"; do wait "$pid"; done
