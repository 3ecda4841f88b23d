#!/usr/bin/env bash
# Fetches Hadoop's libraries with Maven and formats one empty name directory for later starts to copy.
#
# Usage: hack/hadoop/fetch.sh        HADOOP_VERSION=3.4.2 takes another version
# Leaves: $HADOOPBENCH_CACHE/hadoop/VERSION, complete or not at all, about 95 MB; what Maven keeps in ~/.m2. In it:
#   lib/    all libraries, for one short class path
#   home/   the same files laid out as in Hadoop's own distribution: what HADOOP_HOME points to
#   name/   the name directory of an empty HDFS
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"
source "$ROOT/hack/hadoop/lib.sh"

# stamp: of what decides the libraries and the format.
stamp() {
  local hadoop=$ROOT/hack/hadoop
  cat "$hadoop/pom.xml" "$hadoop/fetch.sh" "$hadoop/conf/server/"*.xml "$hadoop/conf/home/"* | sha256sum
}

fresh() { [[ $(cat "$HADOOP_DIR/stamp" 2>/dev/null) == "$(stamp)" ]]; }

download() { # DIR
  mvn -q -B -Dstyle.color=never -f "$ROOT/hack/hadoop/pom.xml" -Dhadoop.version="$HADOOP_VERSION" -DincludeScope=runtime \
    -DexcludeArtifactIds=log4j,slf4j-log4j12 \
    -DoutputDirectory="$1" dependency:copy-dependencies </dev/null
}

# format DIR: what `hdfs namenode -format` makes. It is the same for every start, so its four seconds are spent once.
format() {
  local work=$HADOOP_TMP/format
  "$JAVA" "${JAVA_OPTIONS[@]}" -Dhadoopbench.state="$work" -cp "$HADOOP_CONF/server:$HADOOP_TMP/lib/*" \
    $NAMENODE_CLASS -format -force -nonInteractive >"$work.log" 2>&1 ||
    { tail -n 20 "$work.log" >&2; die "formatting the name directory failed"; }
  mv "$work/name" "$HADOOP_TMP/name"
  rm -rf "$work" "$work.log"
}

# lay_out DIR: hard links to the libraries, at the places of Hadoop's own distribution.
lay_out() {
  local jar part share=$1/share/hadoop
  mkdir -p "$1/etc/hadoop" "$share"/{common/lib,hdfs,mapreduce,yarn}
  for jar in "$HADOOP_TMP"/lib/*.jar; do
    case ${jar##*/} in
      hadoop-common-*) part=common ;;
      hadoop-hdfs-*) part=hdfs ;;
      hadoop-mapreduce-*) part=mapreduce ;;
      hadoop-yarn-*) part=yarn ;;
      *) part=common/lib ;;
    esac
    ln "$jar" "$share/$part/"
  done
  cp "$HADOOP_CONF/home/"* "$1/etc/hadoop/"
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
  lay_out "$HADOOP_TMP/home"
  hosts_file
  mkdir "$HADOOP_TMP/format"
  format
  stamp >"$HADOOP_TMP/stamp"
  chmod 755 "$HADOOP_TMP"
  rm -rf "$HADOOP_DIR"
  mv -T "$HADOOP_TMP" "$HADOOP_DIR"
  log "fetched Hadoop $HADOOP_VERSION in $SECONDS s"
}

fresh || with_lock fetch fetch
