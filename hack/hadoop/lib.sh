# shellcheck shell=bash disable=SC2034,SC2153  # sourced: its variables are used, and come from, elsewhere
# Shared by the scripts of hack/hadoop: versions, places and how Java is called. Source it after hack/lib.sh.
#
# All servers listen on 198.18.0.1 in namespace hb; N is a DataNode's number:
#   8020 9870                 the HDFS of up.sh, with DataNodes 1 to 3
#   8120+ 9920+               lone NameNodes of namenode.sh, wherever its caller wants them
#   8220 8221 9980 9981       the pair of ha.sh, with DataNode 4
#   8320-8322 9990-9992 8388  the NameNodes and the KDC of kerberos.sh
#   1N866 1N867 1N864         a DataNode's data, RPC and web
# Those of HBase are in hack/hbase/lib.sh.

HADOOP_VERSIONS=(3.3.6 3.4.2 3.5.0) # those that are tested with
HADOOP_VERSION=${HADOOP_VERSION:-3.5.0}
HADOOP_DIR=$CACHE/hadoop/$HADOOP_VERSION
HADOOP_LIB=$HADOOP_DIR/lib
HADOOP_CONF=$ROOT/hack/hadoop/conf
HDFS_STATE=$STATE/hdfs # a script for other servers than up.sh's sets its own
HOSTS_FILE=$STATE/java-hosts
DATANODES=(1 2 3)
HDFS_SERVICES=(namenode "${DATANODES[@]/#/datanode}")
NAMENODE_HTTP=$CP_IP:9870
NAMENODE_CLASS=org.apache.hadoop.hdfs.server.namenode.NameNode
DATANODE_CLASS=org.apache.hadoop.hdfs.server.datanode.DataNode

JAVA=${JAVA_HOME:+$JAVA_HOME/bin/}java
# Hadoop reflects on these packages, which Java 17 keeps closed. jdk.net.hosts.file: all names that Java may look up, so
# that no JVM waits for a DNS server that it cannot reach.
JAVA_OPTIONS=(
  -Djava.net.preferIPv4Stack=true -Djdk.net.hosts.file="$HOSTS_FILE"
  -Dhadoopbench.datanode=0 # a DataNode sets its own number
)
for package in lang util nio net; do JAVA_OPTIONS+=("--add-opens=java.base/java.$package=ALL-UNNAMED"); done
JAVA_OPTIONS+=(
  --add-opens=java.base/sun.nio.ch=ALL-UNNAMED --add-opens=java.security.jgss/sun.security.krb5=ALL-UNNAMED
)

# Several JVMs start on few cores. Parallel collectors would get into each other's way, and so would the optimizing
# compiler: at ten times its usual thresholds it takes only what stays hot, and the start costs a third less.
SERVER_OPTIONS=${HDFS_JAVA_OPTIONS:--XX:+UseSerialGC -XX:Tier4InvocationThreshold=50000 \
-XX:Tier4MinInvocationThreshold=6000 -XX:Tier4CompileThreshold=150000 -XX:Tier4BackEdgeThreshold=400000}

# hosts_file: java asks for the name of its own host. Scripts that run at once write the same.
hosts_file() {
  mkdir -p "$STATE"
  printf '127.0.0.1 localhost\n%s %s\n' "$CP_IP" "$(hostname)" >"$HOSTS_FILE.$BASHPID"
  mv "$HOSTS_FILE.$BASHPID" "$HOSTS_FILE"
}

# start_java NAME HEAP [JAVA-OPTION]... CLASS [ARG]...: a server as service NAME, with its data in $HDFS_STATE.
start_java() {
  # shellcheck disable=SC2086  # several options
  service_start "$1" nsenter --net="/run/netns/$NS" "$JAVA" "${JAVA_OPTIONS[@]}" -Dhadoopbench.state="$HDFS_STATE" \
    "-Xmx$2" $SERVER_OPTIONS -cp "$HADOOP_CONF/server:$HADOOP_LIB/*" "${@:3}"
}

# empty_name DIR: makes DIR the name directory of an empty HDFS.
empty_name() {
  rm -rf "$1"
  mkdir -p "${1%/*}"
  cp -r "$HADOOP_DIR/name" "$1"
}

web() { in_ns "$NS" curl -sf --max-time 5 "$@"; }

# listens PORT: whether something does, on the servers' address.
listens() { in_ns "$NS" bash -c "</dev/tcp/$CP_IP/$1"; }

# jmx HTTP-ADDRESS BEAN ATTRIBUTE VALUE: whether the NameNode says so.
jmx() { web "http://$1/jmx?get=Hadoop:service=NameNode,name=$2::$3" | grep -qE "\"$3\" : \"?$4\b"; }

# run_java [JAVA-OPTION]... CLASS [ARG]...: a client or tool, in the foreground, with the configuration of
# conf/$HDFS_CLIENT.
run_java() {
  exec nsenter --net="/run/netns/$NS" "$JAVA" "${JAVA_OPTIONS[@]}" -Dhadoopbench.state="$HDFS_STATE" \
    -Dhadoopbench.log=WARN -cp "$HADOOP_CONF/${HDFS_CLIENT:-client}:$HADOOP_CONF/server:$HADOOP_LIB/*" "$@"
}

# hadoop_services: the names of all services of hack/hadoop that were started and not stopped, and of hack/hbase, which
# cannot do without HDFS.
hadoop_services() {
  local file
  for file in "$PIDS"/{namenode,datanode,kdc,hbase-}*; do
    if [[ -e $file ]]; then echo "${file##*/}"; fi
  done
}
