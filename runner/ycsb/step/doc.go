// Package step carries out the steps of a YCSBRun as one of its pods does: preflight, making the table, loading the records,
// waiting until compactions are over, measuring workloads, and dropping the table.
//
// What several steps have to know of each other is in the table's attributes: which run made it, and whether all records are
// there. For the time of a step each shard has a row of its own in the table, below [clockRow], by which it finds the offset
// of its clock to the server's; no key of YCSB's is like it.
package step
