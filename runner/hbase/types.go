package hbase

import (
	"time"

	"github.com/hadoop-bench/operator/runner/hbase/cell"
)

// Durability says what a server does with a write before it answers.
type Durability int32

// Values as on the wire; names as in Java.
const (
	UseDefault Durability = iota // the table's
	SkipWAL
	AsyncWAL
	SyncWAL
	FsyncWAL
)

// A Get asks for a row, or for some columns of it.
type Get struct {
	Table   string // name, or namespace:name
	Row     []byte
	Family  []byte
	Columns [][]byte // qualifiers; none: the whole family
}

// A Mutation puts or deletes cells of one row.
type Mutation struct {
	Table      string
	Row        []byte
	Family     []byte
	Columns    []Column // of a put
	Delete     bool     // delete the family, instead
	Durability Durability
}

// A Column is a qualifier and its value.
type Column struct {
	Qualifier, Value []byte
}

// A Scan asks for rows in order.
type Scan struct {
	Table      string
	Start      []byte // first row, inclusive; empty: the table's first
	Stop       []byte // first row beyond; empty: to the table's end
	Family     []byte
	Columns    [][]byte // qualifiers; none: the whole family
	Limit      int      // rows at most; 0: no limit
	Caching    int      // rows in one answer; 0: Limit, or 100 without one
	PageFilter bool     // have each region stop by a filter too, as YCSB's hbase.usepagefilter does
}

// Counters is what a Client met since it was opened. A snapshot.
type Counters struct {
	Retries     int64 // requests sent again; those of a Multi or a Flush that go out together count once
	Relocations int64 // regions looked up anew because they were not where they were believed to be
	Lost        int64 // connections to servers that ended with calls in flight
	Busy        int64 // answers that a server or region is too busy
}

// A LocatedRegion is a region and where it is.
type LocatedRegion struct {
	Name       []byte // full name, as a region specifier takes it
	Encoded    string // 32 hexadecimal digits
	Table      string
	Start, End []byte // keys; empty: none
	Server     string // host:port
	StartCode  int64
}

// CallTime bounds one operation of a Session and what it may try.
type CallTime struct {
	Operation time.Duration // all attempts together; default 60 s
	Attempt   time.Duration // one request; default 20 s
	Pause     time.Duration // before the first retry; default 100 ms
	Retries   int           // at most; 0: as many as Operation allows; NoRetries: none
}

// NoRetries says in CallTime.Retries that each request is sent once.
const NoRetries = -1

// Row is what a Get or a step of a Scan found: its cells in order. Its slices are valid until the Session's next call.
type Row []cell.Cell
