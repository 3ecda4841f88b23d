# shellcheck shell=bash disable=SC2034,SC2153  # sourced: its variables are used, and come from, elsewhere
# Shared by the scripts of hack/hadoop: versions, places and how Java is called. Source it after hack/lib.sh.

HADOOP_VERSION=${HADOOP_VERSION:-3.5.0}
HADOOP_HOME_DIR=$CACHE/hadoop/$HADOOP_VERSION
HADOOP_LIB=$HADOOP_HOME_DIR/lib
HADOOP_CONF=$ROOT/hack/hadoop/conf
HDFS_STATE=$STATE/hdfs
DATANODES=(1 2 3)
HDFS_SERVICES=(namenode "${DATANODES[@]/#/datanode}")
NAMENODE_HTTP=$CP_IP:9870

JAVA=${JAVA_HOME:+$JAVA_HOME/bin/}java
# Hadoop reflects on these packages, which Java 17 keeps closed. jdk.net.hosts.file: all names that Java may look up, so
# that no JVM waits for a DNS server that it cannot reach.
JAVA_OPTIONS=(
  -Djava.net.preferIPv4Stack=true -Djdk.net.hosts.file="$HDFS_STATE/hosts"
  -Dhadoopbench.state="$HDFS_STATE" -Dhadoopbench.datanode=0 # a DataNode sets its own number
)
for package in lang util nio net; do JAVA_OPTIONS+=("--add-opens=java.base/java.$package=ALL-UNNAMED"); done
JAVA_OPTIONS+=(
  --add-opens=java.base/sun.nio.ch=ALL-UNNAMED --add-opens=java.security.jgss/sun.security.krb5=ALL-UNNAMED
)

# hosts_file: java asks for the name of its own host.
hosts_file() {
  mkdir -p "$HDFS_STATE"
  printf '127.0.0.1 localhost\n%s %s\n' "$CP_IP" "$(hostname)" >"$HDFS_STATE/hosts"
}
