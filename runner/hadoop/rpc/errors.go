package rpc

import (
	"errors"
	"fmt"
	"strings"

	"github.com/hadoop-bench/operator/runner/internal/transport"
)

// A RemoteError is an exception that the server answered with. The connection lives on unless it is fatal.
type RemoteError struct {
	Class   string // Java's full class name
	Message string // text, with the server's stack trace below its first line if it sent one
	Fatal   bool   // the server closed the connection
	Code    int32  // RpcErrorCodeProto: 1 ERROR_APPLICATION, 2 ERROR_NO_SUCH_METHOD, ..., 15 FATAL_UNAUTHORIZED
}

// Error is the simple class and the first line of the message.
func (e *RemoteError) Error() string {
	line, _, _ := strings.Cut(e.Message, "\n")
	return e.Simple() + ": " + line
}

// Simple is the class without its package and its outer class: StandbyException, for example.
func (e *RemoteError) Simple() string { return e.Class[strings.LastIndexAny(e.Class, ".$")+1:] }

// Is says whether err is, or wraps, a RemoteError whose class has the simple name class, or the full name class.
func Is(err error, class string) bool {
	var remote *RemoteError
	return errors.As(err, &remote) && (remote.Simple() == class || remote.Class == class)
}

// A ConnectError says that there is no connection: name resolution, dialing, login, handshake. The call was not executed.
// Where the server refused us it wraps a [RemoteError].
type ConnectError = transport.ConnectError

// A LostError says that a call was sent, or at least begun to be, and will get no answer. It may have been executed.
type LostError = transport.LostError

// A TooLargeError says that a request is larger than servers accept. Nothing was sent.
type TooLargeError struct {
	Method      string
	Size, Limit int // bytes
}

// Error names the call, its size and the limit.
func (e *TooLargeError) Error() string {
	return fmt.Sprintf("the request of %s has %d bytes, the limit (ipc.maximum.data.length) is %d", e.Method, e.Size, e.Limit)
}
