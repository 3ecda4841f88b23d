#!/usr/bin/env bash
# Builds an image of Hadoop as a user might have one, for engine Upstream: a JVM and a shell from Debian's packages, and
# Hadoop's libraries laid out as in its own distribution, in /opt/hadoop. It runs as any user and writes nothing but in
# /tmp and where it is told to.
#
# Usage: hack/image/hadoop.sh        HADOOP_VERSION=3.4.2 takes another version; prints the archive's path
# Leaves: $HADOOPBENCH_CACHE/images/KEY/hadoop.tar, KEY a hash of the content; the image is called
#         localhost/hadoop-bench-operator/hadoop:VERSION. $HADOOPBENCH_CACHE/jre/KEY, what it has from Debian.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"
source "$ROOT/hack/hadoop/lib.sh"

# Debian 12's names. All that `ldd` says of the JVM and of the shell's tools, and no more: no package manager, no fonts.
PACKAGES=(
  openjdk-17-jre-headless libc6 libgcc-s1 libstdc++6 zlib1g
  base-files bash dash coreutils grep sed libtinfo6 libacl1 libattr1 libselinux1 libpcre2-8-0 libgmp10
)
NAME=localhost/hadoop-bench-operator/hadoop:$HADOOP_VERSION
GOARCH=$(go env GOARCH)
JRE=$CACHE/jre/$({ echo "${PACKAGES[*]} $GOARCH" && cat "${BASH_SOURCE[0]}"; } | sha256sum | cut -c1-12)

# download DIR: the lists of packages may be missing, or older than what the mirror still has.
download() {
  cd "$1"
  apt-get -o APT::Sandbox::User=root -qq download "${PACKAGES[@]}" ||
    { apt-get -qq update && apt-get -o APT::Sandbox::User=root -qq download "${PACKAGES[@]}"; }
}

# unpack DIR ROOTFS: without the packages' own scripts, which want a running system.
unpack() {
  local package dir
  for dir in bin sbin lib lib64; do # Debian's /bin is a link, but the packages bring directories
    mkdir -p "$2/usr/$dir"
    ln -s "usr/$dir" "$2/$dir"
  done
  for package in "$1"/*.deb; do
    dpkg-deb --fsys-tarfile "$package" | tar -x -C "$2" --keep-directory-symlink
  done
}

# settle ROOTFS: what the packages' scripts would have done, and what nobody misses.
settle() {
  local java
  java=$(cd "$1/usr/lib/jvm" && echo java-17-openjdk-*)
  ln -s "$java" "$1/usr/lib/jvm/default-java"
  ln -sf ../lib/jvm/default-java/bin/java "$1/usr/bin/java"
  ln -sf dash "$1/usr/bin/sh"
  mkdir -p "$1"/{etc,proc,sys,dev,tmp,run,var/tmp}
  chmod 1777 "$1/tmp" "$1/var/tmp"
  echo 'root:x:0:0:root:/root:/bin/bash' >"$1/etc/passwd"
  echo 'root:x:0:' >"$1/etc/group"
  printf 'passwd: files\ngroup: files\nhosts: files dns\n' >"$1/etc/nsswitch.conf"
  rm -rf "$1"/usr/share/{doc,man,locale,info,lintian} "$1"/usr/lib/jvm/*/lib/server/classes_nocoops.jsa
}

jre() {
  local tmp
  [[ ! -d $JRE ]] || return 0 # another script made it while this one waited for the lock
  rm -rf "$CACHE/jre" # what another version of this script left, or an interrupted run
  mkdir -p "$CACHE/jre" "$CACHE/logs"
  tmp=$(mktemp -d "$CACHE/jre/.new.XXXXXX")
  chmod 755 "$tmp"
  mkdir "$tmp/debs" "$tmp/rootfs"
  if ! (download "$tmp/debs") >"$CACHE/logs/jre.log" 2>&1; then
    tail -n 5 "$CACHE/logs/jre.log" >&2
    die "apt-get could not download the packages of the image of Hadoop"
  fi
  unpack "$tmp/debs" "$tmp/rootfs"
  settle "$tmp/rootfs"
  mv "$tmp/rootfs" "$JRE"
  rm -rf "$tmp"
}

# pack ARCHIVE
pack() {
  local tool
  [[ ! -e $1 ]] || return 0
  mkdir -p "${1%/*}"
  tool=$(mktemp)
  (cd "$ROOT/hack/image" && GOWORK=off CGO_ENABLED=0 go build -o "$tool" .)
  "$tool" -name "$NAME" -arch "$GOARCH" -tree "$JRE:/" -tree "$HADOOP_DIR/home:/opt/hadoop" -o "$1" \
    -env PATH=/usr/bin:/usr/sbin:/opt/hadoop/bin -env LANG=C.UTF-8 -env HOME=/tmp \
    -env JAVA_HOME=/usr/lib/jvm/default-java -env HADOOP_HOME=/opt/hadoop
  rm -f "$tool"
}

for command in apt-get dpkg-deb; do
  command -v $command >/dev/null || die "$command is missing: the image of Hadoop is made of Debian's packages"
done
SECONDS=0
"$ROOT/hack/hadoop/fetch.sh"
[[ -d $JRE ]] || with_lock jre jre
key=$({ cat "$ROOT"/hack/image/{*.go,go.mod} "$HADOOP_DIR/stamp" && echo "$NAME $JRE"; } | sha256sum | cut -c1-12)
archive=$CACHE/images/$key/hadoop.tar
if [[ ! -e $archive ]]; then
  with_lock jre pack "$archive"
  log "built $NAME in $SECONDS s"
fi
touch "$archive" # hack/image/build.sh removes what three days did not ask for
echo "$archive"
