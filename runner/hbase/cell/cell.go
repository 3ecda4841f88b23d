// Package cell holds HBase's cells and the encoding in which requests and answers carry them beside their messages
// (org.apache.hadoop.hbase.codec.KeyValueCodec).
package cell

// LatestTimestamp asks the server to use its own clock.
const LatestTimestamp = 1<<63 - 1

// A Type says what a cell does. Values as on the wire.
type Type uint8

// The types that clients send and see.
const (
	Put                 Type = 4
	Delete              Type = 8  // one version of one column
	DeleteFamilyVersion Type = 10 // one version of all columns
	DeleteColumn        Type = 12 // all versions of one column
	DeleteFamily        Type = 14 // all versions of all columns
)

// A Cell is one version of one column of one row. Its slices may lie in a buffer of whoever made it, who says until when
// they are valid.
type Cell struct {
	Row       []byte
	Family    []byte
	Qualifier []byte
	Timestamp int64 // milliseconds since the epoch, or LatestTimestamp
	Type      Type
	Value     []byte
}
