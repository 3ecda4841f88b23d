// Package transport holds what clients of Hadoop's RPC and of HBase's have in common below their protocols: cutting a
// stream into frames, sealing it, and opening each connection once for all who need it.
package transport
