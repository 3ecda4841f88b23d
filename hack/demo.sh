#!/usr/bin/env bash
# From nothing to a benchmark's report: builds and starts a local Kubernetes and HDFS, installs the operator with its
# chart, runs config/samples/dfsiorun.yaml and prints what came out. The first time takes 10 to 20 minutes on two cores,
# nearly all of it for building Kubernetes; later ones a minute or two.
#
# Usage: hack/demo.sh up        all of the above; exits with 0 only if the run succeeded
#        hack/demo.sh install   servers and operator only
#        hack/demo.sh down      stops everything
# Leaves: a running cluster and HDFS, to look around in with hack/cluster/kubectl; `down` stops them, the caches stay.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

OPERATOR_NAMESPACE=hadoop-bench-system
NAMESPACE=demo
SAMPLE=$ROOT/config/samples/dfsiorun.yaml
DEADLINE=900 # seconds for the run itself

k() { "$ROOT/hack/cluster/kubectl" "$@"; }

# phase TITLE FUNCTION: with its wall time.
phase() {
  local begin=$SECONDS
  log "== $1"
  "$2"
  log "== $1: $((SECONDS - begin)) s"
}

build_kubernetes() { "$ROOT/hack/cluster/build.sh" >/dev/null; }
build_images() { "$ROOT/hack/image/build.sh" manager runner >"$CACHE/demo-images"; }
fetch_hadoop() { "$ROOT/hack/hadoop/fetch.sh"; }
start_cluster() { "$ROOT/hack/cluster/up.sh"; }
start_hdfs() { "$ROOT/hack/hadoop/up.sh"; }

prepare() {
  "$ROOT/hack/cluster/deps.sh"
  together build_kubernetes fetch_hadoop build_images
}

start() { together start_cluster start_hdfs; }

# restricted NAMESPACE: makes it, with the strictest of the pod security standards.
restricted() {
  k create namespace "$1" --dry-run=client -o yaml | k apply -f - >/dev/null
  k label --overwrite namespace "$1" pod-security.kubernetes.io/enforce=restricted >/dev/null
}

install() {
  local archives
  mapfile -t archives <"$CACHE/demo-images"
  "$ROOT/hack/cluster/load-image.sh" "${archives[@]}"
  restricted $OPERATOR_NAMESPACE
  helm_install
  # The tag is the same for every build: a manager from an older one has to be replaced by hand.
  if [[ -e $STATE/demo-images ]] && ! cmp -s "$CACHE/demo-images" "$STATE/demo-images"; then
    k -n $OPERATOR_NAMESPACE rollout restart deployment
    k -n $OPERATOR_NAMESPACE rollout status deployment --timeout=60s
  fi
  cp "$CACHE/demo-images" "$STATE/demo-images"
}

helm_install() {
  local image values=()
  for image in manager runner; do
    values+=(--set "image.$image.registry=localhost" --set "image.$image.tag=dev")
    values+=(--set "image.$image.repository=hadoop-bench-operator/$image")
  done
  "$ROOT/hack/cluster/helm" upgrade --install hadoop-bench-operator "$ROOT/charts/hadoop-bench-operator" \
    --namespace $OPERATOR_NAMESPACE --wait --timeout 120s \
    "${values[@]}" >/dev/null
}

# run_benchmark: a finished run of an earlier demo goes first, since a run is never repeated.
run_benchmark() {
  restricted $NAMESPACE
  k -n $NAMESPACE create configmap hdfs-config --from-file="$ROOT/hack/hadoop/conf/client" --dry-run=client -o yaml |
    k apply -f - >/dev/null
  k -n $NAMESPACE delete -f "$SAMPLE" --ignore-not-found --wait --timeout=60s
  RUN=$(k -n $NAMESPACE apply -f "$SAMPLE" -o name)
  follow
}

field() { k -n $NAMESPACE get "$RUN" -o "jsonpath=$1"; }
condition() { field "{.status.conditions[?(@.type==\"$1\")].status}"; }

# follow: prints a line whenever something changed, until the operator has nothing left to do.
follow() {
  local begin=$SECONDS line last=
  while ((SECONDS - begin < DEADLINE)); do
    line=$(field '{.status.phase}{"  "}{.status.steps[-1:].name}{"  "}{.status.summary}' || true)
    [[ $line == "$last" || ! ${line// /} ]] || log "$((SECONDS - begin)) s: $line"
    last=$line
    [[ $(condition Reconciling || true) != False ]] || return 0
    sleep 2
  done
  log "the run has not ended within $DEADLINE s"
}

show() {
  local report
  k -n $NAMESPACE get "$RUN"
  echo
  field '{range .status.conditions[*]}{.type}{"\t"}{.status}{"\t"}{.reason}{"\t"}{.message}{"\n"}{end}'
  report=$(field '{.status.reportRef.name}')
  if [[ $report ]]; then
    echo
    k -n $NAMESPACE get configmap "$report" -o 'go-template={{index .data "TestDFSIO_results.log"}}'
    echo
  fi
}

# explain: what one would look at next.
explain() {
  k -n $NAMESPACE get pods -o wide || true
  k -n $NAMESPACE get events --sort-by=.lastTimestamp | tail -n 20 || true
  k -n $OPERATOR_NAMESPACE logs deployment/hadoop-bench-operator --tail=30 || true
}

install_all() {
  phase "build and fetch" prepare
  phase "start Kubernetes and HDFS" start
  phase "install the operator" install
}

up() {
  install_all
  phase "benchmark" run_benchmark
  show
  if [[ $(condition Succeeded) != True ]]; then
    explain >&2
    die "the run did not succeed"
  fi
  log "total: $SECONDS s. Look around with hack/cluster/kubectl -n $NAMESPACE get dfsio; stop with hack/demo.sh down"
}

case ${1:-} in
  up) up ;;
  install) install_all ;;
  down) "$ROOT/hack/cluster/down.sh" ;;
  *) die "usage: hack/demo.sh up|install|down" ;;
esac
