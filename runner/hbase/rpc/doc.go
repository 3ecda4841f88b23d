// Package rpc is a client of HBase's RPC, made for generating load: many callers share few connections, and the client's
// own share of a call is small.
//
// # Connections
//
// There are Options.Connections of them to each address and service; each is opened by the first call that needs it and
// opened anew by the next call after it broke. All calls on a connection are in flight at once and are matched to their
// answers by call id. Three goroutines serve it: a writer, which sends the frames of all callers that are ready with one
// system call; a reader, which hands answers to the callers; and a housekeeper, which ends calls that take too long.
//
// Every connection tells the server a version and the codec of package cell, so that cells come beside messages.
//
// # Retries
//
// The client makes none, since what may be repeated is for the caller to know.
//
// # Cost
//
// In the steady state a call allocates nothing: its answer's buffer belongs to the [Call] and is used again, and what is
// sent is written into the connection's.
package rpc
