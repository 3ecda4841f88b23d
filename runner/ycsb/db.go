package ycsb

import "context"

// Status is the outcome of an operation, in YCSB's words.
type Status uint8

// The outcomes. OK and BatchedOK count as success.
const (
	OK Status = iota
	BatchedOK
	ErrorStatus
	NotFound
	NotImplemented
	UnexpectedState
	BadRequest
	Forbidden
	ServiceUnavailable
	statuses
)

// A Field is one named value of a record.
type Field struct {
	Name, Value []byte
}

// A Record is the fields that were found, in the database's order. Reset and append to use it again; its slices are valid
// until the session's next call.
type Record []Field

// A DB is a database under test. It is opened before anything is measured.
type DB interface {
	// Session returns what one thread uses. It connects, and locates what it needs, before it returns.
	Session(ctx context.Context) (Session, error)
	// Facts says what the database is, for a report: its version, the table's regions, and so on.
	Facts() map[string]string
	// Close ends the connections.
	Close() error
}

// A Session carries out operations, one after the other. An operation that is not OK says why by an error, whose class is
// told by ErrorClass. Fields are names; nil means all of the record.
type Session interface {
	Read(ctx context.Context, key []byte, fields [][]byte, into *Record) (Status, error)
	// Scan reads up to count records from key on and hands each to visit, whose argument is valid only there.
	Scan(ctx context.Context, key []byte, count int, fields [][]byte, visit func(Record)) (Status, error)
	Update(ctx context.Context, key []byte, values []Field) (Status, error)
	Insert(ctx context.Context, key []byte, values []Field) (Status, error)
	Delete(ctx context.Context, key []byte) (Status, error)
	// Close flushes what is buffered. Its status is that of the worst buffered operation.
	Close(ctx context.Context) (Status, error)
}

// Classed is implemented by errors of a DB that know under which name they are to be counted, such as a Java exception's.
type Classed interface{ ErrorClass() string }
