package namenode

import "google.golang.org/protobuf/encoding/protowire"

// finalized is the state of a replica that is complete.
const finalized = 0

// EncodeReport encodes the replicas of one storage, all of them complete.
func EncodeReport(replicas []Replica) EncodedReport {
	buffer := []byte{}
	for _, r := range replicas {
		buffer = protowire.AppendVarint(buffer, protowire.EncodeZigZag(r.ID))
		buffer = protowire.AppendVarint(buffer, uint64(r.NumBytes))
		buffer = protowire.AppendVarint(buffer, uint64(r.GenerationStamp))
		buffer = protowire.AppendVarint(buffer, finalized)
	}
	return EncodedReport{Blocks: uint64(len(replicas)), Buffer: buffer}
}
