// Package hbasetest is an HBase that lives in the process of a test: a master that answers as the registry, RegionServers
// with hbase:meta and tables in memory, on the loopback interface. It does what clients need: regions move and are split,
// servers die, answers are late, or are the exceptions that a test wants. It shares no code with the client under test but
// the generated messages and the cell codec.
package hbasetest
