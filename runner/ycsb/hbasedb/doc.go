// Package hbasedb lets YCSB's core workload run against a table of HBase: the binding that YCSB calls hbase2, with its
// properties.
//
// A record is a row, its fields are columns of one family. Read is a Get of the family or of single columns; Update and
// Insert are both a Put, Delete deletes the family; Scan reads rows from a key on, all in one request where they lie in one
// region. Reads without a result are NotFound, and all that fails is Error, as in YCSB; errors tell their class.
package hbasedb
