// Package upstream runs Hadoop's own NNThroughputBenchmark, the Java class, and turns what it prints into a report: for
// what only that class can do (a NameNode within the process, operation replication), and to compare with. It makes up for
// what the class lacks: it recognises one that will hang, and a failure is never taken for a result.
package upstream
