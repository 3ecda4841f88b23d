package transport

import (
	"fmt"
	"time"
)

// A ConnectError says that there is no connection: name resolution, dialing, login, handshake. The call was not executed.
// Where the server refused us it wraps the exception that it answered with.
type ConnectError struct {
	Address string
	Err     error
}

// Error names the address and the cause.
func (e *ConnectError) Error() string { return fmt.Sprintf("connect to %s: %v", e.Address, e.Err) }

// Unwrap returns the cause.
func (e *ConnectError) Unwrap() error { return e.Err }

// A LostError says that a call was sent, or at least begun to be, and will get no answer: the connection broke, the call
// took too long, or its context ended (then Err wraps the context's cause). It may have been executed.
type LostError struct {
	Address string
	Method  string
	Timeout bool // it took longer than the call's timeout; the connection lives on
	Err     error
}

// NoAnswer is the error of a call that took longer than its timeout.
func NoAnswer(address, method string, timeout time.Duration) *LostError {
	return &LostError{Address: address, Method: method, Timeout: true, Err: fmt.Errorf("no answer within %v", timeout)}
}

// Error names the call, the address and the cause.
func (e *LostError) Error() string {
	return fmt.Sprintf("%s to %s has no answer and may have been executed: %v", e.Method, e.Address, e.Err)
}

// Unwrap returns the cause.
func (e *LostError) Unwrap() error { return e.Err }
