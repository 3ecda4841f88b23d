// Package namenode speaks the protocols of a NameNode, typed: ClientProtocol, DatanodeProtocol, NamenodeProtocol and
// RefreshUserMappingsProtocol. It follows the active NameNode of a highly available name service, and repeats calls in a
// way that the NameNode knows for repetitions.
package namenode
