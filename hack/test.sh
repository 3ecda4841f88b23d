#!/usr/bin/env bash
# Runs the tests in phases, stops at the first that fails, and ends with the wall time of each.
#
# Usage: hack/test.sh               all phases, with a cluster of its own, which it stops at the end
#        hack/test.sh PHASE...      only these; a cluster that they start stays up
#   deps          installs what is missing, checks versions
#   build         Kubernetes from its Go modules, Hadoop from Maven and an image of it, HBase and YCSB from Maven, into the
#                 cache
#   verify        formatting, vet, static analysis, generated files up to date
#   unit          go test -race ./...: needs no root and no server, tests that want servers skip themselves
#   chart         the Helm chart
#   controlplane  API and controllers against a real API server and controller manager
#   cluster       starts the local cluster and HDFS and loads the images
#   servers       the runner against real servers: HDFS, and for the phase each version of Hadoop, an HA pair and Kerberos;
#                 after them HBase on HDFS, older versions of it, and HBase with Kerberos
#   e2e           installs the operator as hack/demo.sh does and tests it as its users meet it
# HADOOPBENCH_LONG=1 has the tests use full sizes (every operation of an NNThroughputRun on 50,003 files, its sample as it is,
# all texts of the Java tool) and gives each phase six times as long.
# Leaves: each phase's whole output in $HADOOPBENCH_CACHE/logs/PHASE.log.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
source "$ROOT/hack/hadoop/lib.sh"
source "$ROOT/hack/hbase/lib.sh"

ALL=(deps build verify unit chart controlplane cluster servers e2e)
IN_NS=$ROOT/hack/cluster/in-ns
# Half the servers' start-up time is their optimizing compiler's, and nobody measures their peak speed here.
export HDFS_JAVA_OPTIONS="-XX:+UseSerialGC -XX:TieredStopAtLevel=1"
cd "$ROOT"

# minutes N: N minutes as a limit, or six times as many where the tests use full sizes.
minutes() { if [[ ${HADOOPBENCH_LONG:-} == 1 ]]; then echo $(($1 * 6))m; else echo "$1m"; fi; }

phase_deps() { hack/cluster/deps.sh; }

build_kubernetes() { hack/cluster/build.sh; }
build_hadoop() {
  local version
  for version in "${HADOOP_VERSIONS[@]}"; do HADOOP_VERSION=$version hack/hadoop/fetch.sh; done
  hack/image/build.sh hadoop
}
build_hbase() {
  local version
  for version in "${HBASE_VERSIONS[@]}"; do HBASE_VERSION=$version hack/hbase/fetch.sh; done
  hack/peers/fetch.sh
}
phase_build() { together build_kubernetes build_hadoop build_hbase; }

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
  HADOOPBENCH_BIN=$(bin_dir) strictly -race -timeout "$(minutes 20)" \
    ./api/... ./hack/manifests/... ./test/controlplane/... ./controllers/...
}

start_cluster() { hack/cluster/up.sh; }
start_hdfs() { hack/hadoop/up.sh; }
load_images() { # IMAGE...
  local archives
  mapfile -t archives < <(hack/image/build.sh "$@")
  ((${#archives[@]} == $#)) || die "images could not be built: $*"
  hack/cluster/load-image.sh "${archives[@]}"
}
phase_cluster() {
  together start_cluster start_hdfs
  together "load_images manager runner" "load_images hadoop" # the one compiles while the other copies
}

# Servers that nobody wants but the tests of the runner; they go when the phase ends, for their memory.
LONE_NAMENODES=("3.3.6 8120 9920" "3.4.2 8121 9921" "3.5.0 8122 9922") # version, which is the name too, RPC and web port
lone_namenode() { HADOOP_VERSION=$1 hack/hadoop/namenode.sh up "$@"; }
start_servers() {
  SECONDS=0
  together "hack/hadoop/ha.sh up" "hack/hadoop/kerberos.sh up" "${LONE_NAMENODES[@]/#/lone_namenode }"
  log "all servers are up after $SECONDS s"
}
stop_servers() {
  together "hack/hadoop/ha.sh down" "hack/hadoop/kerberos.sh down" \
    "hack/hadoop/namenode.sh down ${LONE_NAMENODES[*]%% *}"
}

# HBase follows when they are gone, for the same reason.
LONE_HBASES=(2.5 1.7)
start_hbase_servers() {
  SECONDS=0
  together hack/hbase/up.sh "hack/hbase/kerberos.sh up" "${LONE_HBASES[@]/#/hack/hbase/standalone.sh up }"
  log "all servers of HBase are up after $SECONDS s"
}
stop_hbase_servers() { hack/hbase/down.sh; }

# server_environment: where the tests find them.
#   HADOOPBENCH_TEST_HBASE                 configuration directory of the cluster of hack/hbase/up.sh
#   HADOOPBENCH_TEST_HBASE_CONTROL         kills, stops and starts its RegionServers
#   HADOOPBENCH_TEST_HBASE_TABLE           HBase's own client; its word on what is in a table, with HBASE_CLIENT=NAME of
#                                          the configuration directory
#   HADOOPBENCH_TEST_HBASE_VERSIONS        other versions, as NAME=CONFIGURATION-DIRECTORY,...
#   HADOOPBENCH_TEST_HBASE_KERBEROS        directory of a realm, with krb5.conf and keytabs/alice.keytab
#   HADOOPBENCH_TEST_HBASE_KERBEROS_CONF   configuration directory of the HBase in it
#   HADOOPBENCH_TEST_YCSB                  the original YCSB
server_environment() {
  local namenode version rpc http list= homes=$HADOOP_DIR/home # the present version's first
  for version in "${HADOOP_VERSIONS[@]}"; do
    if [[ $version != "$HADOOP_VERSION" ]]; then homes+=:$CACHE/hadoop/$version/home; fi
  done
  for namenode in "${LONE_NAMENODES[@]}"; do
    read -r version rpc http <<<"$namenode"
    list+=${list:+,}$version=$CP_IP:$rpc:$http
  done
  export HADOOPBENCH_TEST_NN=$list HADOOPBENCH_TEST_FS=hdfs://$CP_IP:$rpc
  export HADOOPBENCH_TEST_HDFS=hdfs://$CP_IP:8020 HADOOPBENCH_TEST_HTTP=http://$NAMENODE_HTTP
  export HADOOPBENCH_TEST_HADOOP_CONF=$HADOOP_CONF/client HADOOPBENCH_TEST_HADOOP_HOME=$homes
  export HADOOPBENCH_TEST_HA=$HADOOP_CONF/client-ha HADOOPBENCH_TEST_HA_CONTROL=$ROOT/hack/hadoop/ha.sh
  export HADOOPBENCH_TEST_KERBEROS=$STATE/krb
  export HADOOPBENCH_TEST_KERBEROS_NN=authentication=$CP_IP:8320,integrity=$CP_IP:8321,privacy=$CP_IP:8322
  hbase_environment
}

hbase_environment() {
  local name list=
  for name in "${LONE_HBASES[@]}"; do list+=${list:+,}$name=$HBASE_CONF/client-$name; done
  export HADOOPBENCH_TEST_HBASE=$HBASE_CONF/client HADOOPBENCH_TEST_HBASE_VERSIONS=$list
  export HADOOPBENCH_TEST_HBASE_CONTROL=$ROOT/hack/hbase/control.sh HADOOPBENCH_TEST_HBASE_TABLE=$ROOT/hack/hbase/table
  export HADOOPBENCH_TEST_HBASE_KERBEROS=$STATE/krb-hbase HADOOPBENCH_TEST_HBASE_KERBEROS_CONF=$HBASE_CONF/client-krb
  export HADOOPBENCH_TEST_YCSB=$ROOT/hack/peers/ycsb.sh
}

# One package after the other: some count what a server does, turn a NameNode's safe mode on, or kill a RegionServer.
phase_servers() {
  local packages
  mapfile -t packages < <(go list ./runner/... | grep -vE '/runner/(hbase|ycsb)(/|$)')
  ((${#packages[@]})) || die "go list found no packages in ./runner"
  trap stop_servers EXIT
  start_servers
  server_environment
  strictly -race -p 1 -timeout "$(minutes 15)" -exec "$IN_NS" "${packages[@]}"
  stop_servers
  trap stop_hbase_servers EXIT
  start_hbase_servers
  strictly -race -p 1 -timeout "$(minutes 12)" -exec "$IN_NS" ./runner/hbase/... ./runner/ycsb/...
}

# Servers of the stories of NNThroughputRun, which count what a NameNode does and log in, and of YCSBRun. With full sizes a
# story compares two versions of HBase.
start_e2e_servers() {
  local servers=("hack/hadoop/namenode.sh up e2e 8130 9930" "hack/hadoop/kerberos.sh up privacy" hack/hbase/up.sh)
  if [[ ${HADOOPBENCH_LONG:-} == 1 ]]; then servers+=("hack/hbase/standalone.sh up 2.6" "hack/hbase/standalone.sh up 1.7"); fi
  together "${servers[@]}"
}
stop_e2e_servers() {
  together "hack/hadoop/namenode.sh down e2e" "hack/hadoop/kerberos.sh down" hack/hbase/down.sh
}

# Three stories at once, whatever the number of processors: most of the time they wait.
phase_e2e() {
  trap stop_e2e_servers EXIT
  together start_e2e_servers "hack/demo.sh install"
  server_environment
  HADOOPBENCH_E2E=1 HADOOPBENCH_ROOT=$ROOT strictly -timeout "$(minutes 30)" -parallel 3 -exec "$IN_NS" ./test/e2e/...
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
