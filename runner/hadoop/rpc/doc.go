// Package rpc is a client of Hadoop RPC version 9, made for generating load: many callers share few connections, and the
// client's own share of a call is small.
//
// # Connections
//
// There are Options.Connections of them to each address and protocol; each is opened by the first call that needs it and
// opened anew by the next call after it broke. All calls on a connection are in flight at once and are matched to their
// answers by call id. Three goroutines serve it: a writer, which sends the frames of all callers that are ready with one
// system call; a reader, which hands answers to the callers; and a housekeeper, which ends calls that take too long and
// sends pings.
//
// # Retries
//
// The client makes none, since what may be repeated is for the caller to know. A server's retry cache recognizes a call
// that is repeated with the same [Call.ID], and [Call.Retry] one greater, by the same client.
//
// # Cost
//
// In the steady state a call allocates nothing here but what protobuf needs to decode its response: frames, header and
// channel belong to the [Call] or to the connection and are used again.
package rpc
