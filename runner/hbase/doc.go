// Package hbase is a client of HBase's tables, made for measuring: many sessions share few connections, and the client's
// own share of an operation is small.
//
// A [Client] knows where regions are and holds the connections. A [Session] belongs to one goroutine and carries out its
// operations one after the other, in buffers that it uses again: in the steady state a Get or a Mutate allocates nothing. A
// [Mutator] collects a session's mutations and sends them together.
//
// # Retries
//
// A request that failed for a reason that passes is repeated with growing pauses until [CallTime] is used up: regions that
// moved, were split or are being assigned, servers that died, start or have too much to do. A location is forgotten only if
// the failure says that it is wrong; all sessions that miss the same location share one look-up of it. An operation counts
// once however often it was tried; [Client.Counters] tells how often that was, and an operation that failed for good is an
// [*OperationError] that says what it met.
//
// # Ambiguity
//
// A mutation whose answer was lost is sent again, though it may have been carried out. The timestamps of cells are the
// server's, so the row then has the same content, in two versions instead of one. A reader, or another writer of the same
// row, may come between the two.
package hbase
