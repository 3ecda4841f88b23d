#!/usr/bin/env bash
# Makes sure that the local cluster, HDFS and the tests can run here: installs missing Debian packages and checks the
# rest, each with the remedy.
#
# Usage: hack/cluster/deps.sh
# Leaves: Debian packages. Nothing is installed where the commands are there already, whoever brought them.
#
# Tested with Debian 12: containerd 1.6.20, runc 1.1.5, CNI plugins 1.1.1, nftables 1.0.6, conntrack 1.4.7, OpenJDK 17,
# Maven 3.8.7, MIT Kerberos 1.20, Go 1.26. Lowest versions known to work: see the checks below.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"

# What is looked for, and the Debian package that brings it.
COMMANDS=(
  containerd:containerd ctr:containerd runc:runc nft:nftables iptables:iptables conntrack:conntrack
  ip:iproute2 nsenter:util-linux unshare:util-linux flock:util-linux openssl:openssl curl:curl
  krb5kdc:krb5-kdc kdb5_util:krb5-kdc kadmin.local:krb5-admin-server kinit:krb5-user
)

missing_packages() {
  local entry
  for entry in "${COMMANDS[@]}"; do
    command -v "${entry%%:*}" >/dev/null || echo "${entry##*:}"
  done
  cni_bin_dir >/dev/null || echo containernetworking-plugins
}

apt_install() { apt-get update -qq && apt-get install -y -qq --no-install-recommends "$@"; }

install_packages() {
  local packages
  mapfile -t packages < <(missing_packages | sort -u)
  ((${#packages[@]})) || return 0
  command -v apt-get >/dev/null ||
    die "missing: ${packages[*]} (Debian's names); install them with this system's package manager"
  log "installing Debian packages: ${packages[*]}"
  export DEBIAN_FRONTEND=noninteractive
  if ! apt_install "${packages[@]}" >"$CACHE/logs/apt.log" 2>&1; then
    tail -n 20 "$CACHE/logs/apt.log" >&2
    die "apt-get failed; the whole output is in $CACHE/logs/apt.log"
  fi
}

# check NAME HAVE WANT REMEDY
check() {
  [[ -n $2 ]] || die "$1 is missing: $4"
  version_at_least "$2" "$3" || die "$1 $2 is too old, at least $3 is needed: $4"
}

first_version() { grep -oE '[0-9]+(\.[0-9]+)+' | head -n1; }

check_versions() {
  local java=${JAVA_HOME:+$JAVA_HOME/bin/}java
  check Go "$(go env GOVERSION 2>/dev/null | first_version)" 1.26 "install it and put it into PATH"
  check Java "$("$java" -version 2>&1 | sed -n 's/.*version "\([0-9]*\).*/\1/p')" 17 \
    "apt-get install openjdk-17-jdk-headless, or set JAVA_HOME"
  check "Java's compiler" "$("${java}c" -version 2>&1 | sed -n 's/^javac \([0-9]*\).*/\1/p')" 17 \
    "apt-get install openjdk-17-jdk-headless; a JRE is not enough"
  check Maven "$(mvn -v 2>/dev/null | first_version)" 3.6 "apt-get install maven"
  check "a C compiler (go test -race)" "$(cc -dumpversion 2>/dev/null)" 8 "apt-get install gcc libc6-dev"
  check containerd "$(containerd --version | first_version)" 1.6 "upgrade the package containerd"
  check runc "$(runc --version | first_version)" 1.1 "upgrade the package runc"
  check "MIT Kerberos" "$(klist -V | first_version)" 1.15 "upgrade the packages krb5-kdc and krb5-user"
  check unshare "$(unshare --version | first_version)" 2.32 "upgrade the package util-linux"
}

require_root
mkdir -p "$CACHE/logs"
install_packages
check_versions
