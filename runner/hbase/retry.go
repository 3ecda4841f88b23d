package hbase

import (
	"context"
	"errors"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hadoop-bench/operator/runner/hbase/rpc"
)

// A step is what follows a failure.
type step uint8

const (
	giveUp    step = iota // it would fail again
	again                 // the same, after a pause
	relocate              // the region is not there
	follow                // the region is somewhere else, and the server said where
	abandon               // the server is gone, and all its regions with it
	wait                  // the server or the region has too much to do: the same, after a longer pause
	openAgain             // the scanner is gone: a new one behind the last row
)

// steps says what follows the exceptions that servers answer with, by simple name. Names that are not here follow their
// do-not-retry mark.
func stepOf(class string) (s step, known bool) {
	switch class {
	case "NotServingRegionException", "WrongRegionException", "RegionOfflineException", "ServerNotRunningYetException":
		return relocate, true
	case "RegionMovedException":
		return follow, true
	case "RegionServerStoppedException", "RegionServerAbortedException":
		return abandon, true
	case "RegionTooBusyException", "CallQueueTooBigException", "CallDroppedException":
		return wait, true
	case "RegionOpeningException", "PleaseHoldException", "RegionInRecoveryException", "ServerTooBusyException":
		return again, true
	case "UnknownScannerException", "OutOfOrderScannerNextException", "LeaseException", "ScannerResetException":
		return openAgain, true
	// Inside the answer to a Multi these have no mark.
	case "DoNotRetryIOException", "NoSuchColumnFamilyException", "TableNotFoundException", "TableNotEnabledException",
		"AccessDeniedException", "FailedSanityCheckException", "InvalidMutationException", "UnsupportedOperationException",
		"UnknownProtocolException", "DoNotRetryRegionException", "WrongRowIOException", "IllegalArgumentException",
		"InvalidQuotaSettingsException", "SpaceLimitingException":
		return giveUp, true
	}
	return again, false
}

// next decides what follows an error.
func next(err error) step {
	var remote *rpc.RemoteError
	var connect *rpc.ConnectError
	var lost *rpc.LostError
	switch {
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return giveUp
	case errors.Is(err, errRegistry):
		return again
	case errors.As(err, &connect) && errors.As(err, &remote) && remote.DoNotRetry:
		return giveUp
	case errors.As(err, &connect):
		return abandon
	case errors.As(err, &remote):
		return nextAfterRemote(remote)
	case errors.As(err, &lost) && lost.Timeout, errors.Is(err, errNoTimeLeft):
		return relocate
	case errors.As(err, &lost):
		return abandon
	case errors.Is(err, errUnassigned):
		return again
	}
	return giveUp
}

func nextAfterRemote(e *rpc.RemoteError) step {
	s, known := stepOf(classOf(e))
	switch {
	case known && s == giveUp:
		return giveUp
	case e.Overloaded:
		return wait
	case known:
		return s
	case e.DoNotRetry:
		return giveUp
	}
	return again
}

// movedTo is the address that a RegionMovedException names; empty if there is none. Inside the answer to a Multi it is only
// in the text: "Region moved to: hostname=h port=p startCode=s. ...".
func movedTo(err error) string {
	var e *rpc.RemoteError
	if !errors.As(err, &e) || classOf(e) != "RegionMovedException" {
		return ""
	}
	host, port := e.Host, strconv.Itoa(int(e.Port))
	if host == "" || e.Port == 0 {
		host, port = wordAfter(e.Message, "hostname="), wordAfter(e.Message, "port=")
	}
	if n, err := strconv.ParseUint(port, 10, 16); host == "" || err != nil || n == 0 {
		return ""
	}
	return net.JoinHostPort(host, port)
}

// wordAfter is what follows mark up to a space.
func wordAfter(text, mark string) string {
	_, after, _ := strings.Cut(text, mark)
	word, _, _ := strings.Cut(after, " ")
	return word
}

// maxPause is the longest wait between two attempts.
const maxPause = 5 * time.Second

// backoff are the pauses in units of CallTime.Pause; the last one goes on. Java's go on to 200, which keeps threads idle for
// long after their regions are back.
var backoff = [...]time.Duration{1, 2, 3, 5, 10, 20}

// busyFactor is how much longer a server that has too much to do is left alone, as in Java.
const busyFactor = 5

// pauseAfter is how long to wait after so many failures in a row, the first being 1. random is in [0, 1).
func pauseAfter(s step, failures int, unit time.Duration, random float64) time.Duration {
	if (s == follow || s == openAgain) && failures == 1 {
		return 0
	}
	d := unit * backoff[min(max(failures, 1), len(backoff))-1]
	if s == wait {
		d *= busyFactor
	}
	d = min(d, maxPause)
	// Up to a tenth more or less, so that those who failed together do not come back together.
	return d + time.Duration((random-0.5)/5*float64(d))
}

// A trial is the attempts at one operation.
type trial struct {
	operation string
	table     string
	family    []byte
	row       []byte
	server    string // asked last
	began     time.Time
	failures  int
	met       []Failures
}

// begin starts anew. Memory is used again.
func (t *trial) begin(now time.Time, operation, table string, family, row []byte) {
	*t = trial{operation: operation, table: table, family: family, row: row, began: now, met: t.met[:0]}
}

// note counts a failure.
func (t *trial) note(err error) {
	t.failures++
	class := classOf(err)
	if i := slices.IndexFunc(t.met, func(f Failures) bool { return f.Class == class }); i >= 0 {
		t.met[i].Count++
		return
	}
	t.met = append(t.met, Failures{Class: class, Count: 1})
}

// fail makes the error of an operation that is over.
func (t *trial) fail(now time.Time, err error) error {
	if classOf(err) == "NoSuchColumnFamilyException" {
		err = &NoFamilyError{Table: t.table, Family: string(t.family), Err: err}
	}
	return &OperationError{
		Operation: t.operation, Table: t.table, Row: slices.Clone(t.row), Server: t.server,
		Attempts: t.failures, Took: now.Sub(t.began), Met: slices.Clone(t.met), Err: err,
	}
}

// allows says whether another attempt after pause is within c.
func (t *trial) allows(c CallTime, now time.Time, pause time.Duration) bool {
	if c.Retries == NoRetries || c.Retries > 0 && t.failures > c.Retries {
		return false
	}
	return now.Add(pause).Sub(t.began) < c.Operation
}

// tryAgain says whether an operation goes on after err and waits until it may: nil, or the operation's error.
func (s *Session) tryAgain(ctx context.Context, r *region, err error) error {
	what := s.client.learn(r, err)
	s.trial.note(err)
	now := s.client.o.Clock.Now()
	pause := pauseAfter(what, s.trial.failures, s.client.o.Calls.Pause, s.random.Float64())
	if what == giveUp || ctx.Err() != nil || !s.trial.allows(s.client.o.Calls, now, pause) {
		return s.trial.fail(now, err)
	}
	s.client.retries.Add(1)
	if pause > 0 {
		if ended := s.client.o.Clock.Wait(ctx, pause); ended != nil {
			return s.trial.fail(s.client.o.Clock.Now(), errors.Join(ended, err))
		}
	}
	return nil
}
