#!/usr/bin/env bash
# Builds the images of the local cluster: static binaries, packed into OCI archives without any container engine. The one
# with a JVM in it is hadoop.sh's.
#
# Usage: hack/image/build.sh [-o DIR] [manager|runner|pause|hadoop]...     (default: manager runner)
#        prints one archive's path per line; HADOOP_VERSION=... as for hadoop.sh
# Leaves: $HADOOPBENCH_CACHE/images/KEY/NAME.tar, KEY a hash of the content; with -o DIR, DIR/NAME.tar instead.
#         The images are called localhost/hadoop-bench-operator/NAME:dev, localhost/hadoop-bench-operator/hadoop:VERSION
#         and localhost/pause:1.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"

export CGO_ENABLED=0 GOWORK=off GOFLAGS=-buildvcs=false # a stamp would change the content with every commit
GOARCH=$(go env GOARCH)

image_name() {
  case $1 in
    pause) echo localhost/pause:1 ;;
    *) echo "localhost/hadoop-bench-operator/$1:dev" ;;
  esac
}

compile() { # NAME OUTPUT
  case $1 in
    pause) cd "$ROOT/hack/image" && go build -trimpath -ldflags "-s -w" -o "$2" ./pause ;;
    *) cd "$ROOT" && go build -trimpath -ldflags "-s -w" -o "$2" "./cmd/$1" ;;
  esac
}

# pack NAME BINARY: into the cache unless the same content is there; what three days did not ask for goes.
pack() {
  local key archive
  key=$({ cat "$ROOT"/hack/image/{*.go,go.mod} && sha256sum <"$2" && image_name "$1"; } | sha256sum | cut -c1-12)
  archive=$CACHE/images/$key/$1.tar
  if [[ -e $archive ]]; then
    touch "$archive"
  else
    mkdir -p "${archive%/*}"
    "$TMP/image" -name "$(image_name "$1")" -binary "$2" -arch "$GOARCH" -o "$archive"
  fi
  find "$CACHE/images" -mindepth 2 -name '*.tar' -mtime +3 -delete
  echo "$archive"
}

out=
while getopts o: option; do
  case $option in
    o) mkdir -p "$OPTARG" && out=$(cd "$OPTARG" && pwd) ;;
    *) exit 2 ;;
  esac
done
shift $((OPTIND - 1))
(($#)) || set -- manager runner

TMP=$(mktemp -d)
trap 'rm -rf "$TMP"' EXIT
(cd "$ROOT/hack/image" && go build -o "$TMP/image" .)
for name in "$@"; do
  if [[ $name == hadoop ]]; then
    archive=$("$ROOT/hack/image/hadoop.sh")
  else
    (compile "$name" "$TMP/$name")
    archive=$(pack "$name" "$TMP/$name")
  fi
  if [[ $out ]]; then
    cp "$archive" "$out/$name.tar"
    archive=$out/$name.tar
  fi
  echo "$archive"
done
