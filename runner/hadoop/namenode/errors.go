package namenode

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/hadoop-bench/operator/runner/hadoop/rpc"
)

// ErrUnreachable is what every [*UnreachableError] is.
var ErrUnreachable = errors.New("no NameNode answers")

// ErrNotDirectory says that a path that should be a directory is a file.
var ErrNotDirectory = errors.New("not a directory")

// An UnreachableError says that a call was given up: it got no answer, or only such as another NameNode or a later time
// would suit. It may have been carried out.
type UnreachableError struct {
	Method   string
	Attempts int
	Took     time.Duration // from the first failure on
	Answers  []Answer      // the last of each address that was tried, in the order of Options.Addresses
}

// An Answer is what one NameNode said last, or what kept it from answering.
type Answer struct {
	Address string
	Err     error
}

// Error names the call, how long it was tried, and what each address answered.
func (e *UnreachableError) Error() string {
	var b strings.Builder
	times := "attempts"
	if e.Attempts == 1 {
		times = "attempt"
	}
	fmt.Fprintf(&b, "%s: %v after %d %s, %v after the first one failed", e.Method, ErrUnreachable, e.Attempts, times, e.Took.Round(time.Millisecond))
	for i, a := range e.Answers {
		separator := "; "
		if i == 0 {
			separator = ": "
		}
		fmt.Fprintf(&b, "%s%s: %s", separator, a.Address, firstLine(a.Err))
	}
	return b.String()
}

// Is says that the error is ErrUnreachable.
func (e *UnreachableError) Is(target error) bool { return target == ErrUnreachable }

// Unwrap returns what the addresses answered.
func (e *UnreachableError) Unwrap() []error {
	errs := make([]error, len(e.Answers))
	for i, a := range e.Answers {
		errs[i] = a.Err
	}
	return errs
}

// A StateError says that a NameNode answers, but not as the active one.
type StateError struct {
	State string // STANDBY, OBSERVER or INITIALIZING
}

// Error names the state.
func (e *StateError) Error() string { return "the NameNode is not active but " + e.State }

// Class sorts an error: the simple class name of a NameNode's exception, or a word for what broke: Timeout,
// ConnectionRefused, ConnectionLost, UnknownHost, Unreachable, Stopped, TooLarge. What an UnreachableError's first address
// answered decides over it.
func Class(err error) string {
	var unreachable *UnreachableError
	if errors.As(err, &unreachable) && len(unreachable.Answers) > 0 {
		return Class(unreachable.Answers[0].Err)
	}
	var remote *rpc.RemoteError
	if errors.As(err, &remote) && remote.Simple() != "" {
		return remote.Simple()
	}
	var lost *rpc.LostError
	if errors.As(err, &lost) && lost.Timeout {
		return "Timeout"
	}
	if class := classOfType(err); class != "" {
		return class
	}
	for _, rule := range classRules() {
		if errors.Is(err, rule.is) {
			return rule.class
		}
	}
	if lost != nil {
		return "ConnectionLost"
	}
	if timeout := net.Error(nil); errors.As(err, &timeout) && timeout.Timeout() {
		return "Timeout"
	}
	return "IOError"
}

// classOfType sorts by the type of a cause; empty if none decides.
func classOfType(err error) string {
	if state := new(StateError); errors.As(err, &state) {
		return "StandbyException"
	}
	if dns := new(net.DNSError); errors.As(err, &dns) {
		return "UnknownHost"
	}
	if large := new(rpc.TooLargeError); errors.As(err, &large) {
		return "TooLarge"
	}
	return ""
}

type classRule struct {
	is    error
	class string
}

func classRules() []classRule {
	return []classRule{
		{context.Canceled, "Stopped"},
		{context.DeadlineExceeded, "Timeout"},
		{os.ErrDeadlineExceeded, "Timeout"},
		{syscall.ETIMEDOUT, "Timeout"},
		{syscall.ECONNREFUSED, "ConnectionRefused"},
		{syscall.EHOSTUNREACH, "Unreachable"},
		{syscall.ENETUNREACH, "Unreachable"},
		{syscall.ECONNRESET, "ConnectionLost"},
		{syscall.EPIPE, "ConnectionLost"},
		{io.ErrUnexpectedEOF, "ConnectionLost"},
		{io.EOF, "ConnectionLost"},
		{net.ErrClosed, "ConnectionLost"},
	}
}

// Text is an error's text for people, in one line: what a NameNode says stands there without its stack trace.
func Text(err error) string { return firstLine(err) }

func firstLine(err error) string {
	line, _, _ := strings.Cut(strings.TrimSpace(err.Error()), "\n")
	return strings.TrimSpace(line)
}

// isRemote says whether err is an exception with that simple class name.
func isRemote(err error, class string) bool { return err != nil && rpc.Is(err, class) }
