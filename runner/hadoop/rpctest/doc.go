// Package rpctest is a Hadoop RPC server inside the process, for tests and for benchmarks of clients: it answers at once
// and costs little, so what is measured against it is the client. It can be told to misbehave, and to ask for Kerberos
// without a KDC being there.
//
// It reads and writes the protocol's messages on its own, not with package rpc, so that an error in one is no error in
// the other.
package rpctest
