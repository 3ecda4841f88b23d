#!/usr/bin/env bash
# Fetches Hadoop's libraries with Maven and formats one empty name directory for later starts to copy.
#
# Usage: hack/hadoop/fetch.sh        HADOOP_VERSION=3.4.2 takes another version
# Leaves: $HADOOPBENCH_CACHE/hadoop/VERSION, complete or not at all, about 95 MB; what Maven keeps in ~/.m2.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"
source "$ROOT/hack/hadoop/lib.sh"

# stamp: of what decides the libraries and the format.
stamp() { cat "$ROOT/hack/hadoop/pom.xml" "$ROOT/hack/hadoop/conf/server/"*.xml | sha256sum; }

fresh() { [[ $(cat "$HADOOP_HOME_DIR/stamp" 2>/dev/null) == "$(stamp)" ]]; }

download() { # DIR
  mvn -q -B -Dstyle.color=never -f "$ROOT/hack/hadoop/pom.xml" -Dhadoop.version="$HADOOP_VERSION" -DincludeScope=runtime \
    -DoutputDirectory="$1" dependency:copy-dependencies </dev/null
}

# format DIR: what `hdfs namenode -format` makes. It is the same for every start, so its four seconds are spent once.
format() {
  local work=$HADOOP_TMP/format
  "$JAVA" "${JAVA_OPTIONS[@]}" -Dhadoopbench.state="$work" -cp "$HADOOP_CONF/server:$HADOOP_TMP/lib/*" \
    org.apache.hadoop.hdfs.server.namenode.NameNode -format -force -nonInteractive >"$work.log" 2>&1 ||
    { tail -n 20 "$work.log" >&2; die "formatting the name directory failed"; }
  mv "$work/name" "$HADOOP_TMP/name"
  rm -rf "$work" "$work.log"
}

fetch() {
  ! fresh || return 0 # another script fetched it while this one waited for the lock
  SECONDS=0
  mkdir -p "$CACHE/hadoop"
  rm -rf "$CACHE"/hadoop/.fetch.* # of a fetch that was interrupted
  HADOOP_TMP=$(mktemp -d "$CACHE/hadoop/.fetch.XXXXXX")
  trap 'rm -rf "$HADOOP_TMP"' EXIT
  # Registries fail now and then; Maven goes on where it was.
  download "$HADOOP_TMP/lib" || download "$HADOOP_TMP/lib" || die "Maven could not fetch Hadoop $HADOOP_VERSION"
  hosts_file
  mkdir "$HADOOP_TMP/format"
  format
  stamp >"$HADOOP_TMP/stamp"
  chmod 755 "$HADOOP_TMP"
  rm -rf "$HADOOP_HOME_DIR"
  mv -T "$HADOOP_TMP" "$HADOOP_HOME_DIR"
  log "fetched Hadoop $HADOOP_VERSION in $SECONDS s"
}

fresh || with_lock fetch fetch
