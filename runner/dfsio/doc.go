// Package dfsio carries out the tests of Hadoop's TestDFSIO in one shard: shard i writes, reads or checks file i of a
// run, and one shard prepares and one cleans up. The layout in HDFS is TestDFSIO's; what is timed is what TestDFSIO
// times: the loop of calls and the close of the stream, with the stream opened before the clock starts.
package dfsio
