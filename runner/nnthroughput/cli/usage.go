package cli

const usage = `Usage: runner nnthroughput [generic options] -op <operation> [options]

Takes the command line of Hadoop's NNThroughputBenchmark and prints its report on standard output; the log goes to
standard error.

Generic options, all before -op:
  -fs URI             hdfs://<namenode>:<port> or hdfs://<name service>; over the property fs.defaultFS
  -D name=value       a property, over the configuration files
  -conf FILE          a configuration file over those of HADOOP_CONF_DIR, else of HADOOP_HOME/etc/hadoop; may be repeated
Without a NameNode (no fs.defaultFS, or file:///) Hadoop's own class is run, if HADOOP_HOME is set.

Operations and their options:
  create       [-threads T] [-files N] [-blockSize S] [-filesPerDir P] [-close]
  mkdirs       [-threads T] [-dirs N] [-dirsPerDir P]
  open         [-threads T] [-files N] [-blockSize S] [-filesPerDir P] [-useExisting]
  delete, fileStatus, rename   as open
  append       as open, and [-appendNewBlk]
  blockReport  [-datanodes T] [-reports N] [-blocksPerReport B] [-blocksPerFile F] [-blockSize S]
  replication  [-datanodes T] [-nodesToDecommission D] [-nodeReplicationLimit C] [-totalBlocks B] [-blockSize S] [-replication R]
               (only without a NameNode)
  clean        deletes the base directory
  all          each of them in this order; each takes the options it knows

Options of every operation:
  -baseDirName D           directory to work below, /nnThroughputBenchmark; several, for a federation of name spaces,
                           repeated or with commas between them
  -keepResults             leave what was made
  -nonSuperUser            do not touch safe mode; safe mode is never touched here, unless by -leaveSafeMode
  -logLevel L              of an in-process NameNode: ERROR, WARN, INFO, DEBUG, TRACE
  -UGCacheRefreshCount G   each thread refreshes the NameNode's group mappings before every G-th operation

Beyond upstream:
  -connections N           to the NameNode, 1
  -rate R                  operations per second in all, on a schedule, instead of as fast as it goes
  -duration D              how long to measure, for example 60s, instead of a number (create, mkdirs, open, fileStatus, blockReport)
  -warmup D                how long to work unmeasured before
  -allowFakeDataNodes B    false refuses blockReport, which registers DataNodes that do not exist for a while; all leaves it out
  -leaveSafeMode           make the NameNode leave safe mode before
  -user U                  who acts in HDFS under simple authentication; else HADOOP_USER_NAME, else the login name
  -keytab F -principal P   Kerberos login; without them the ticket cache (KRB5CCNAME)
  -krb5conf F              else KRB5_CONFIG, else /etc/krb5.conf

A signal (INT, TERM, HUP) stops and removes what was made; a second one leaves it. The report of what was not done to its
end goes to standard error.

Exit codes: 0 done, 1 operations failed or the rate was not reached, 2 bad command line or configuration, 3 target
unreachable or it refused, 4 a deadline passed, 6 stopped by a signal. Where upstream's own exit code would be 255 (bad command line), it is 2 here.
`
