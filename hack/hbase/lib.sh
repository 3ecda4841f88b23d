# shellcheck shell=bash disable=SC2034,SC2153  # sourced: its variables are used, and come from, elsewhere
# Shared by the scripts of hack/hbase: versions, places, ports and how Java is called. Source it after hack/lib.sh and
# hack/hadoop/lib.sh.
#
# All servers listen on 198.18.0.1 in namespace hb. RPC and web ports of master and RegionServer, as in conf/client*:
#   ZooKeeper  master       RegionServer
#   2181       16000 16010  16021 16031, 16022 16032   the cluster of up.sh, on HDFS
#   2182       16100 16110  16120 16130                standalone.sh 2.6
#   2183       16200 16210  16220 16230                standalone.sh 2.5
#   2184       16300 16310  16320 16330                standalone.sh 1.7
#   2185       16400 16410  16420 16430                kerberos.sh, with its KDC on 8389

HBASE_VERSIONS=(1.7.2 2.5.10-hadoop3 2.6.4-hadoop3) # those that are tested with
HBASE_VERSION=${HBASE_VERSION:-2.6.4-hadoop3}
HBASE_CONF=$ROOT/hack/hbase/conf
HBASE_STATE=$STATE/hbase # of the cluster of up.sh: its own hbase-site.xml, which control.sh changes, and ZooKeeper's data
REGIONSERVERS=(1 2)
HBASE_SERVICES=(hbase-zookeeper hbase-master "${REGIONSERVERS[@]/#/hbase-rs}")
MASTER_CLASS=org.apache.hadoop.hbase.master.HMaster
REGIONSERVER_CLASS=org.apache.hadoop.hbase.regionserver.HRegionServer

# use_hbase VERSION: the one whose libraries are meant from now on.
use_hbase() {
  HBASE_VERSION=$1
  HBASE_DIR=$CACHE/hbase/$1
  HBASE_LIB=$HBASE_DIR/lib
  HBASE_CLASSES=$HBASE_DIR/classes
}
use_hbase "$HBASE_VERSION"

# What the servers of up.sh have in common. The master starts when all RegionServers are there.
CLUSTER_CONF=$HBASE_STATE/conf:$HBASE_CONF/server
CLUSTER_OPTIONS=(
  -D hbase.cluster.distributed=true -D "hbase.rootdir=hdfs://$CP_IP:8020/hbase" -D "hbase.tmp.dir=$HBASE_STATE/tmp"
  -D hbase.zookeeper.property.clientPort=2181
  -D "hbase.master.wait.on.regionservers.mintostart=${#REGIONSERVERS[@]}"
)

# What HBase and Netty reflect on, besides what Hadoop does.
HBASE_JAVA_OPTIONS=(
  -Dorg.apache.hbase.thirdparty.io.netty.tryReflectionSetAccessible=true --add-modules=jdk.unsupported
  --add-exports=java.base/jdk.internal.misc=ALL-UNNAMED --add-exports=java.security.jgss/sun.security.krb5=ALL-UNNAMED
)
for package in jdk.internal.ref java.lang.reflect java.util.concurrent; do
  HBASE_JAVA_OPTIONS+=("--add-opens=java.base/$package=ALL-UNNAMED")
done

# start_hbase NAME HEAP CONF-DIRS [JAVA-OPTION]... CLASS [ARG]...: a server as service hbase-NAME. $HBASE_DIR/web holds the
# directories that a web server of HBase does not start without.
start_hbase() {
  # shellcheck disable=SC2086  # several options
  service_start "hbase-$1" nsenter --net="/run/netns/$NS" "$JAVA" "${JAVA_OPTIONS[@]}" "${HBASE_JAVA_OPTIONS[@]}" \
    "-Xmx$2" $SERVER_OPTIONS -cp "$3:$HBASE_DIR/web:$HBASE_LIB/*" "${@:4}"
}

# start_regionserver N: of the cluster of up.sh. One that was killed is noticed after ten seconds.
start_regionserver() {
  start_hbase "rs$1" "${HBASE_HEAP:-768m}" "$CLUSTER_CONF" $REGIONSERVER_CLASS "${CLUSTER_OPTIONS[@]}" \
    -D zookeeper.session.timeout=10000 -D "hbase.regionserver.port=$((16020 + $1))" \
    -D "hbase.regionserver.info.port=$((16030 + $1))" start
}

# start_local NAME INDEX CONF-DIRS [JAVA-OPTION]... CLASS [ARG]...: all of HBase in one JVM, with its data in
# $STATE/hbase-NAME on file:// and the INDEXth line of ports above, counted from 0.
start_local() {
  local i=$2 dir=$STATE/hbase-$1
  rm -rf "$dir"
  mkdir -p "$dir"
  # A local file system cannot say when it has written to disk, which HBase asks of one by default.
  start_hbase "$1" 800m "$3" "${@:4}" \
    -D hbase.cluster.distributed=false -D "hbase.rootdir=file://$dir/root" -D "hbase.tmp.dir=$dir/tmp" \
    -D "hbase.zookeeper.property.dataDir=$dir/zookeeper" -D "hbase.zookeeper.property.clientPort=$((2181 + i))" \
    -D "hbase.master.port=$((16000 + 100 * i))" -D "hbase.master.info.port=$((16010 + 100 * i))" \
    -D "hbase.regionserver.port=$((16020 + 100 * i))" -D "hbase.regionserver.info.port=$((16030 + 100 * i))" \
    -D hbase.unsafe.stream.capability.enforce=false -D hbase.wal.provider=filesystem start
}

# says SERVICE TEXT: whether it is in the service's log.
says() { grep -qF "$2" "$LOGS/$1.log"; }

# wait_initialized SERVICE: until the master in it serves its clients. The web pages say less than the log.
INITIALIZED="Master has completed initialization"
wait_initialized() {
  WATCH=("$1")
  wait_until 180 "$1; see $LOGS/$1.log" says "$1" "$INITIALIZED"
}

# run_hbase CONF [JAVA-OPTION]... CLASS [ARG]...: a client or tool, in the foreground, with the configuration of conf/CONF
# and, where kerberos.sh set it, of Kerberos. MORE_CLASSES: class path of what is not in hack/hbase.
MORE_CLASSES=
run_hbase() {
  exec nsenter --net="/run/netns/$NS" "$JAVA" "${JAVA_OPTIONS[@]}" "${HBASE_JAVA_OPTIONS[@]}" \
    ${KRB5_CONFIG:+-Djava.security.krb5.conf="$KRB5_CONFIG"} \
    -cp "$HBASE_CONF/$1:$HBASE_CONF/log:$HBASE_CLASSES:${MORE_CLASSES:+$MORE_CLASSES:}$HBASE_LIB/*" "${@:2}"
}
