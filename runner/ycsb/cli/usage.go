package cli

const usage = `Usage: runner ycsb load|run <binding> [options]
       runner ycsb -load|-t [-db <class>] [options]

Takes the command line of YCSB, of bin/ycsb or of its class site.ycsb.Client, and prints YCSB's report on standard output;
status lines and the log go to standard error.

Bindings:
  hbase        HBase 1.7 to 2.6; also by the names hbase1, hbase2, hbase10 to hbase20 and YCSB's classes HBaseClient*
  basic        no database, to measure the benchmark itself; also YCSB's class BasicDB

Options:
  -P FILE        a file of properties; may be repeated, and later ones win. workloads/workloada to workloadf and
                 workloads/updateonly come with the program, and are taken where there is no such file
  -p NAME=VALUE  a property, over all files
  -threads N     1
  -target N      operations per second of all threads together; on one schedule, whichever thread is free
  -s             print a status line every status.interval (10) seconds
  -l LABEL       what a status line begins with
  -load, -t      insert the records, or carry out operations (as load and run do)
  -db CLASS      the binding by YCSB's class, where none is named
  -cp PATH       directories with hbase-site.xml and core-site.xml, with colons between them, before HBASE_CONF_DIR and
                 HADOOP_CONF_DIR
  -jvm-args ARGS has no effect

Properties beyond YCSB:
  hadoopbench.warmup=30s|N   work so long, or so many operations, unmeasured before; not for a load
  hadoopbench.seed=N         of all random numbers; a random one by default, told in the log
  hadoopbench.shard=K, hadoopbench.shards=N
                             of N processes that share a run this is number K, from 0: each inserts other keys
  hadoopbench.zipfian=exact  zipfian keys by Zipf's law itself, instead of YCSB's

The first signal (INT, TERM, HUP) stops the run and reports what was done; a second one ends it at once.

Exit codes: 0 done, operations that failed are in the report; 1 all operations failed, a record of a load was not inserted,
or another error; 2 bad option, property or workload file; 3 target unreachable or it refused, as without table or column
family; 4 operations hung when the time was over and were cut off; 6 stopped by a signal. YCSB's own is 0 nearly always.
`
