package hbase

import (
	"google.golang.org/protobuf/encoding/protowire"
)

// The requests of the hot path are encoded by hand into buffers that are used again. Field numbers are those of HBase's
// Client.proto, HBase.proto and Filter.proto; the tests hold the result against the generated messages.

// Values of enumerations.
const (
	regionName     = 1 // RegionSpecifierType
	mutationPut    = 2 // MutationType
	mutationDelete = 3
)

const pageFilterClass = "org.apache.hadoop.hbase.filter.PageFilter"

// open begins a message in field num; shut ends it, given where its content began.
func open(b []byte, num protowire.Number) (_ []byte, at int) {
	b = append(protowire.AppendTag(b, num, protowire.BytesType), 0)
	return b, len(b)
}

func shut(b []byte, at int) []byte {
	n := len(b) - at
	extra := protowire.SizeVarint(uint64(n)) - 1
	if extra > 0 {
		b = append(b, "\x00\x00\x00\x00\x00\x00\x00\x00\x00"[:extra]...)
		copy(b[at+extra:], b[at:at+n])
	}
	protowire.AppendVarint(b[:at-1], uint64(n))
	return b
}

func appendBytes(b []byte, num protowire.Number, v []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(b, num, protowire.BytesType), v)
}

func appendString(b []byte, num protowire.Number, v string) []byte {
	return protowire.AppendString(protowire.AppendTag(b, num, protowire.BytesType), v)
}

func appendUint(b []byte, num protowire.Number, v uint64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(b, num, protowire.VarintType), v)
}

func appendTrue(b []byte, num protowire.Number) []byte { return appendUint(b, num, 1) }

// specifier encodes a RegionSpecifier as field 1, which it has in every request and in RegionAction.
func specifier(name []byte) []byte {
	b, at := open(nil, 1)
	b = appendUint(b, 1, regionName)
	b = appendBytes(b, 2, name)
	return shut(b, at)
}

// appendColumns encodes a Column in field num, if a family is asked for.
func appendColumns(b []byte, num protowire.Number, family []byte, qualifiers [][]byte) []byte {
	if len(family) == 0 {
		return b
	}
	b, at := open(b, num)
	b = appendBytes(b, 1, family)
	for _, q := range qualifiers {
		b = appendBytes(b, 2, q)
	}
	return shut(b, at)
}

// appendGet encodes a Get in field num.
func appendGet(b []byte, num protowire.Number, g *Get) []byte {
	b, at := open(b, num)
	b = appendBytes(b, 1, g.Row)
	b = appendColumns(b, 2, g.Family, g.Columns)
	return shut(b, at)
}

// appendGetRequest encodes a GetRequest.
func appendGetRequest(b, specifier []byte, g *Get) []byte {
	return appendGet(append(b, specifier...), 2, g)
}

// appendMutation encodes a MutationProto in field num, whose cells go beside the message.
func appendMutation(b []byte, num protowire.Number, row []byte, remove bool, d Durability, cells int) []byte {
	kind := uint64(mutationPut)
	if remove {
		kind = mutationDelete
	}
	b, at := open(b, num)
	b = appendBytes(b, 1, row)
	b = appendUint(b, 2, kind)
	if d != UseDefault {
		b = appendUint(b, 6, uint64(d))
	}
	b = appendUint(b, 8, uint64(cells))
	return shut(b, at)
}

// appendMutateRequest encodes a MutateRequest.
func appendMutateRequest(b, specifier []byte, m *Mutation) []byte {
	return appendMutation(append(b, specifier...), 2, m.Row, m.Delete, m.Durability, m.cells())
}

// A scanOpening is a request for a region's first rows.
type scanOpening struct {
	specifier []byte
	start     []byte // empty: the region's first row
	stop      []byte // empty: to the region's end
	family    []byte
	columns   [][]byte
	rows      int // in the answer, at most
	limit     int // rows in all, at most; 0: none
	page      int // of the filter; 0: no filter
	reversed  bool
	close     bool // the answer to this request is all that is wanted
}

// maxScanBytes bounds the size of an answer with several rows, as the Java client does by default.
const maxScanBytes = 2 << 20

// append encodes a ScanRequest. Rows come whole: the server may send them in parts only to clients that say they put them
// together.
func (o *scanOpening) append(b []byte) []byte {
	b = append(b, o.specifier...)
	b, at := open(b, 2)
	b = appendColumns(b, 1, o.family, o.columns)
	if len(o.start) > 0 {
		b = appendBytes(b, 3, o.start)
	}
	if len(o.stop) > 0 {
		b = appendBytes(b, 4, o.stop)
	}
	if o.page > 0 {
		b = appendPageFilter(b, 5, o.page)
	}
	b = appendUint(b, 10, maxScanBytes)
	if o.reversed {
		b = appendTrue(b, 15)
	}
	b = appendUint(b, 17, uint64(o.rows))
	b = shut(b, at)
	b = appendUint(b, 4, uint64(o.rows))
	if o.close {
		b = appendTrue(b, 5)
	}
	if o.limit > 0 {
		b = appendUint(b, 11, uint64(o.limit))
	}
	return b
}

func appendPageFilter(b []byte, num protowire.Number, rows int) []byte {
	b, at := open(b, num)
	b = appendString(b, 1, pageFilterClass)
	b, inner := open(b, 2)
	b = appendUint(b, 1, uint64(rows))
	return shut(shut(b, inner), at)
}

// appendScanNext encodes a ScanRequest for an open scanner's next rows. sequence counts these requests from 0: the server
// refuses one that it has answered before, rather than leave out rows.
func appendScanNext(b []byte, scanner uint64, rows, limit int, sequence uint64) []byte {
	b = appendUint(b, 3, scanner)
	b = appendUint(b, 4, uint64(rows))
	b = appendUint(b, 6, sequence)
	if limit > 0 {
		b = appendUint(b, 11, uint64(limit))
	}
	return b
}

// appendScanClose encodes a ScanRequest that ends a scanner.
func appendScanClose(b []byte, scanner uint64) []byte {
	b = appendUint(b, 3, scanner)
	b = appendUint(b, 4, 0)
	return appendTrue(b, 5)
}
