#!/usr/bin/env bash
# Checks what needs no test run: that generated files are up to date, formatting, go vet, staticcheck and tidy modules.
#
# Usage: hack/verify.sh
#   HADOOPBENCH_BIN   directory with controller-gen; without it controller-gen is built once
# Every check runs; the exit code is 1 if one of them found something.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
ROOT=$PWD
failed=0
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# check NAME REMEDY CMD...: CMD has to succeed and to print nothing on its standard output. What it says on the other
# one is shown only then: go tells there of every module it downloads.
check() {
  local name=$1 remedy=$2 out start=$SECONDS
  shift 2
  if out=$("$@" 2>"$scratch/stderr") && [[ -z $out ]]; then
    printf 'ok    %s (%d s)\n' "$name" $((SECONDS - start))
    return
  fi
  printf 'FAIL  %s: %s\n' "$name" "$remedy"
  { printf '%s\n' "$out"; grep -v '^go: downloading ' "$scratch/stderr" || true; } | head -n 60
  failed=1
}

tool() { go tool -modfile="$ROOT/hack/tools/go.mod" "$@"; }

go_files() { git ls-files --cached --others --exclude-standard -- '*.go' ':!zz_generated.*' ':!*.pb.go'; }

formatted() {
  local files
  mapfile -t files < <(go_files)
  tool gofumpt -l "${files[@]}"
}

# manifests: regenerates into an empty directory and compares what is there.
manifests() {
  local dir=$1 path status=0
  go run ./hack/manifests -out "$dir" || return
  while read -r path; do
    diff -u "$path" "$dir/$path" || status=1
  done < <(cd "$dir" && find . -type f | sort)
  # A CRD of a kind that is gone would stay otherwise.
  diff <(cd "$dir/config/crd" && ls) <(cd config/crd && ls | grep -v '^kustomization.yaml$') || status=1
  diff <(cd "$dir" && find charts -type f | sort) <(find charts/hadoop-bench-operator/files -type f | sort) || status=1
  return $status
}

# protos: regenerates into an empty directory and compares what is there.
protos() {
  local dir=$1 path here status=0
  go -C hack/protos run . -out "$dir" || return
  while read -r path; do
    diff -u "$path" "$dir/$path" || status=1
  done < <(cd "$dir" && find . -type f | sort)
  # Code of a .proto file that is gone would stay otherwise.
  for here in runner/hadoop/wire runner/hbase/wire; do
    diff <(cd "$dir/$here" && ls) <(cd "$here" && ls | grep '\.pb\.go$') || status=1
  done
  return $status
}

complete() { go list -mod=readonly tool >/dev/null; }

in_module() { (cd "$1" && shift && "$@"); }

check "generated files" "run make manifests and commit the result" manifests "$scratch/manifests"
check "generated protobuf code" "run go -C hack/protos run . and commit the result" protos "$scratch/protos"
check "format" "run go tool -modfile=hack/tools/go.mod gofumpt -w on these files" formatted
while read -r mod; do
  dir=$(dirname "$mod")
  if [[ $dir == hack/cluster/kubernetes ]]; then
    # Tidying this one downloads what the tests of all its tools need; that it is complete is enough.
    check "go.mod in $dir" "run go mod tidy in $dir" in_module "$dir" complete
    continue
  fi
  check "go mod tidy in $dir" "run go mod tidy in $dir" in_module "$dir" go mod tidy -diff
  # A module that only pins tools has no packages to look at.
  [[ -n $(go -C "$dir" list ./... 2>/dev/null) ]] || continue
  check "go vet in $dir" "fix what it says" in_module "$dir" go vet ./...
  check "staticcheck in $dir" "fix what it says" in_module "$dir" tool staticcheck ./...
done < <(git ls-files --cached --others --exclude-standard -- go.mod '*/go.mod' | sort)
exit $failed
