package hbase

import (
	"cmp"
	"time"

	"github.com/hadoop-bench/operator/runner/hbase/registry"
	"github.com/hadoop-bench/operator/runner/hbase/rpc"
	"github.com/hadoop-bench/operator/runner/measure"
)

// Options of a [Client]. The zero value of a field means the default that is said beside it.
type Options struct {
	// Registry says whom to ask where HBase is.
	Registry registry.Config
	// RPC is how connections are made.
	RPC rpc.Options
	// Calls bounds each operation.
	Calls CallTime
	// WriteBuffer is how many bytes a Mutator collects. Default: 2 MiB, as the Java client's.
	WriteBuffer int64
	// MaxCell bounds the encoded size of a cell that is written, in bytes. Default: 10 MiB; negative: no bound.
	MaxCell int64
	// Clock tells the time and waits between attempts. Default: the machine's.
	Clock measure.Clock
	// Seed of the random part of these waits.
	Seed uint64
}

// Defaults of Options and of CallTime. The Java client's own limit of an operation is 20 minutes, which looks like a hang.
const (
	DefaultWriteBuffer = 2 << 20
	DefaultMaxCell     = 10 << 20
	DefaultOperation   = 60 * time.Second
	DefaultAttempt     = 20 * time.Second
	DefaultPause       = 100 * time.Millisecond
	maxDial            = 10 * time.Second
)

// complete fills in the defaults.
func (o Options) complete() Options {
	o.WriteBuffer = cmp.Or(max(o.WriteBuffer, 0), DefaultWriteBuffer)
	o.MaxCell = cmp.Or(o.MaxCell, DefaultMaxCell)
	o.Calls = o.Calls.complete()
	if o.RPC.DialTimeout <= 0 {
		o.RPC.DialTimeout = min(maxDial, o.Calls.Attempt)
	}
	if o.Clock == nil {
		o.Clock = measure.System()
	}
	return o
}

func (t CallTime) complete() CallTime {
	t.Operation = cmp.Or(max(t.Operation, 0), DefaultOperation)
	t.Attempt = min(cmp.Or(max(t.Attempt, 0), DefaultAttempt), t.Operation)
	t.Pause = cmp.Or(max(t.Pause, 0), DefaultPause)
	return t
}
