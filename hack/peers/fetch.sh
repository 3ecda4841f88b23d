#!/usr/bin/env bash
# Fetches YCSB's core with Maven and compiles a binding for HBase against it.
#
# Usage: hack/peers/fetch.sh
# Leaves: $HADOOPBENCH_CACHE/ycsb with lib/ and classes/, complete or not at all, about 3 MB; what Maven keeps in ~/.m2;
#         HBase 2.6.4, which hack/hbase/fetch.sh fetches.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"
source "$ROOT/hack/hadoop/lib.sh"
source "$ROOT/hack/hbase/lib.sh"
source "$ROOT/hack/peers/lib.sh"

# stamp: of what decides the libraries and the classes.
stamp() { cat "$ROOT/hack/peers/pom.xml" "$ROOT/hack/peers/fetch.sh" "$ROOT"/hack/peers/src/*.java | sha256sum; }

fresh() { [[ $(cat "$YCSB_DIR/stamp" 2>/dev/null) == "$(stamp)" ]]; }

download() { # DIR
  mvn -q -B -Dstyle.color=never -f "$ROOT/hack/peers/pom.xml" -DincludeScope=runtime -DoutputDirectory="$1" \
    dependency:copy-dependencies </dev/null
}

fetch() {
  ! fresh || return 0 # another script fetched it while this one waited for the lock
  SECONDS=0
  rm -rf "$CACHE"/.ycsb.* # of a fetch that was interrupted
  YCSB_TMP=$(mktemp -d "$CACHE/.ycsb.XXXXXX")
  trap 'rm -rf "$YCSB_TMP"' EXIT
  # Registries fail now and then; Maven goes on where it was.
  download "$YCSB_TMP/lib" || download "$YCSB_TMP/lib" || die "Maven could not fetch YCSB"
  mkdir "$YCSB_TMP/classes"
  "${JAVA}c" -nowarn --release 17 -d "$YCSB_TMP/classes" -cp "$YCSB_TMP/lib/*:$HBASE_LIB/*" "$ROOT"/hack/peers/src/*.java
  stamp >"$YCSB_TMP/stamp"
  chmod 755 "$YCSB_TMP"
  rm -rf "$YCSB_DIR"
  mv -T "$YCSB_TMP" "$YCSB_DIR"
  log "fetched YCSB in $SECONDS s"
}

"$ROOT/hack/hbase/fetch.sh"
fresh || with_lock fetch fetch
