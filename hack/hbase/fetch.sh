#!/usr/bin/env bash
# Fetches HBase's libraries with Maven and compiles the tools of hack/hbase/src against them.
#
# Usage: hack/hbase/fetch.sh        HBASE_VERSION=2.5.10-hadoop3 or 1.7.2 takes another version
# Leaves: $HADOOPBENCH_CACHE/hbase/VERSION, complete or not at all, 65 to 120 MB; what Maven keeps in ~/.m2. In it:
#   lib/       all libraries, for one short class path
#   classes/   our own tools
#   web/       empty directories that HBase's web servers look for and its Maven artifacts lack
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"
source "$ROOT/hack/hadoop/lib.sh"
source "$ROOT/hack/hbase/lib.sh"

# Two stamps, of what decides the libraries and the classes: new tools do not take the libraries away from running servers.
lib_stamp() { cat "$ROOT/hack/hbase/pom.xml" "$ROOT/hack/hbase/fetch.sh" | sha256sum; }
class_stamp() { cat "$ROOT"/hack/hbase/src/*.java | sha256sum; }

lib_fresh() { [[ $(cat "$HBASE_DIR/stamp" 2>/dev/null) == "$(lib_stamp)" ]]; }
class_fresh() { [[ $(cat "$HBASE_CLASSES/stamp" 2>/dev/null) == "$(class_stamp)" ]]; }

download() { # DIR
  mvn -q -B -Dstyle.color=never -f "$ROOT/hack/hbase/pom.xml" -Dhbase.version="$HBASE_VERSION" -DincludeScope=runtime \
    -DoutputDirectory="$1" dependency:copy-dependencies </dev/null
}

fetch_lib() {
  SECONDS=0
  # Registries fail now and then; Maven goes on where it was.
  download "$HBASE_TMP/lib" || download "$HBASE_TMP/lib" || die "Maven could not fetch HBase $HBASE_VERSION"
  mkdir -p "$HBASE_TMP"/web/hbase-webapps/{master,regionserver,static}
  lib_stamp >"$HBASE_TMP/stamp"
  chmod 755 "$HBASE_TMP"
  rm -rf "$HBASE_DIR"
  mv -T "$HBASE_TMP" "$HBASE_DIR"
  log "fetched HBase $HBASE_VERSION in $SECONDS s"
}

# compile: the tools use the client's API of HBase 2, which 1.7 does not have.
compile() {
  mkdir "$HBASE_TMP.classes"
  if [[ $HBASE_VERSION != 1.* ]]; then
    "${JAVA}c" -nowarn --release 17 -d "$HBASE_TMP.classes" -cp "$HBASE_LIB/*" "$ROOT"/hack/hbase/src/*.java
  fi
  class_stamp >"$HBASE_TMP.classes/stamp"
  rm -rf "$HBASE_CLASSES"
  mv -T "$HBASE_TMP.classes" "$HBASE_CLASSES"
}

# fetch: what another script fetched while this one waited for the lock is there already.
fetch() {
  mkdir -p "$CACHE/hbase"
  rm -rf "$CACHE"/hbase/.fetch.* # of a fetch that was interrupted
  HBASE_TMP=$(mktemp -d "$CACHE/hbase/.fetch.XXXXXX")
  trap 'rm -rf "$HBASE_TMP" "$HBASE_TMP.classes"' EXIT
  lib_fresh || fetch_lib
  class_fresh || compile
}

{ lib_fresh && class_fresh; } || with_lock fetch fetch
