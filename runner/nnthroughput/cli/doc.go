// Package cli is the command line of NNThroughputBenchmark: the same options, the same report on standard output, and
// besides them exit codes that tell what happened. Against a NameNode it works by itself; where upstream would start a
// NameNode in its own process, it runs upstream's Java class of the Hadoop installation at hand.
package cli
