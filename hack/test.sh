#!/usr/bin/env bash
# Runs the tests in phases, stops at the first that fails, and ends with the wall time of each.
#
# Usage: hack/test.sh               all phases, with a cluster of its own, which it stops at the end
#        hack/test.sh PHASE...      only these; a cluster that they start stays up
#   deps          installs what is missing, checks versions
#   build         Kubernetes from its Go modules and Hadoop from Maven, into the cache
#   verify        formatting, vet, static analysis, generated files up to date
#   unit          go test -race ./...: needs no root and no server, tests that want servers skip themselves
#   chart         the Helm chart
#   controlplane  API and controllers against a real API server and controller manager
#   cluster       starts the local cluster and HDFS and loads the images
#   servers       the runner against real servers
#   e2e           installs the operator as hack/demo.sh does and tests it as its users meet it
# Leaves: each phase's whole output in $HADOOPBENCH_CACHE/logs/PHASE.log.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

ALL=(deps build verify unit chart controlplane cluster servers e2e)
IN_NS=$ROOT/hack/cluster/in-ns
cd "$ROOT"

phase_deps() { hack/cluster/deps.sh; }

build_kubernetes() { hack/cluster/build.sh; }
fetch_hadoop() { hack/hadoop/fetch.sh; }
phase_build() { together build_kubernetes fetch_hadoop; }

phase_verify() {
  if [[ -x hack/verify.sh ]]; then
    HADOOPBENCH_BIN=$(bin_dir) hack/verify.sh
  else
    gofmt -l . | (! grep .)
    go vet ./...
  fi
}

phase_unit() { go test -race ./...; }

phase_chart() { cd test/chart && HADOOPBENCH_BIN=$(bin_dir) go test ./...; }

phase_controlplane() {
  HADOOPBENCH_BIN=$(bin_dir) strictly -race -timeout 20m ./api/... ./hack/manifests/... ./test/controlplane/... ./controllers/...
}

start_cluster() { hack/cluster/up.sh; }
# Half the servers' start-up time is their optimizing compiler's, and nobody measures their peak speed here.
start_hdfs() { HDFS_JAVA_OPTIONS="-XX:+UseSerialGC -XX:TieredStopAtLevel=1" hack/hadoop/up.sh; }
phase_cluster() {
  local archives
  together start_cluster start_hdfs
  mapfile -t archives < <(hack/image/build.sh manager runner)
  ((${#archives[@]} == 2)) || die "the images could not be built"
  hack/cluster/load-image.sh "${archives[@]}"
}

phase_servers() {
  HADOOPBENCH_TEST_HDFS=hdfs://$CP_IP:8020 HADOOPBENCH_TEST_HADOOP_CONF=$ROOT/hack/hadoop/conf/client \
    strictly -race -timeout 15m -exec "$IN_NS" ./runner/...
}

# Three stories at once, whatever the number of processors: most of the time they wait.
phase_e2e() {
  hack/demo.sh install
  HADOOPBENCH_E2E=1 HADOOPBENCH_ROOT=$ROOT strictly -timeout 30m -parallel 3 -exec "$IN_NS" ./test/e2e/...
}

# strictly GO-TEST-ARGS...: a skipped test fails too, since here everything is there that it could want. -exec compiles
# outside the namespace, where modules can be fetched, and runs inside it, where the servers are.
strictly() {
  local dir failed=
  dir=$(mktemp -d)
  { go test -count=1 -v "$@" || touch "$dir/failed"; } | tee "$dir/out" |
    { grep --line-buffered -vE '^ *(=== (RUN|PAUSE|CONT|NAME)|--- PASS)' || true; }
  if [[ -e $dir/failed ]]; then failed=1; fi
  if grep -E '^ *--- SKIP' "$dir/out"; then
    log "skipped tests are not accepted in this phase"
    failed=1
  fi
  rm -rf "$dir"
  [[ ! $failed ]]
}

summary=()

# run PHASE: in a subshell of its own under set -e, which a function called in a condition would lose.
run() {
  local begin=$SECONDS status log_file=$CACHE/logs/$1.log
  echo "=== phase $1"
  set +e
  (
    set -e
    "phase_$1"
  ) 2>&1 </dev/null | tee "$log_file"
  status=${PIPESTATUS[0]}
  set -e
  summary+=("$(printf '%-14s %5d s  %s' "$1" $((SECONDS - begin)) "$([[ $status == 0 ]] && echo passed || echo FAILED)")")
  ((status == 0)) && return
  echo "=== phase $1 failed; the end of $log_file:"
  grep -E '^ *(--- FAIL|FAIL|panic:|error:)' "$log_file" | sort -u | tail -n 20 || true
  tail -n 20 "$log_file"
  return 1
}

finish() {
  local status=$?
  if [[ $own_cluster ]]; then hack/cluster/down.sh || status=1; fi
  printf '=== %s\n' "summary, $SECONDS s in all" "${summary[@]}"
  exit $status
}

phases=("$@")
own_cluster=
for phase in "${phases[@]}"; do
  declare -F "phase_$phase" >/dev/null || die "no phase $phase; there are: ${ALL[*]}"
done
if ((${#phases[@]} == 0)); then
  require_root
  phases=("${ALL[@]}")
  own_cluster=1
fi
mkdir -p "$CACHE/logs"
trap finish EXIT
# What an interrupted run, or a person, left behind is not what is to be tested.
if [[ $own_cluster && -d $STATE ]]; then hack/cluster/down.sh; fi
for phase in "${phases[@]}"; do run "$phase"; done
