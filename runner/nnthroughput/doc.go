// Package nnthroughput measures how many operations of its namespace a NameNode carries out: the operations of Hadoop's
// NNThroughputBenchmark, as the threads of one shard. It speaks the NameNode's own protocols, so nothing but the NameNode
// is measured.
package nnthroughput
