// Package admin prepares and watches HBase's tables for a benchmark: it creates tables split into regions of equal shares,
// flushes and compacts them, waits until compactions are over, moves and splits regions, and tells what the cluster is. It
// speaks to HBase 1.7 and 2.x.
//
// Every method waits until what it asks for is done, and has a deadline: that of its context, or [Options.Deadline]. Its
// errors are [*Error], which say what helps.
package admin
