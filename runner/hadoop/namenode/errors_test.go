package namenode_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/hadoop-bench/operator/runner/hadoop/namenode"
	"github.com/hadoop-bench/operator/runner/hadoop/rpc"
)

func TestClass(t *testing.T) {
	dialing := func(err error) error {
		return fmt.Errorf("create: %w", &rpc.ConnectError{Address: "a", Err: &net.OpError{Op: "dial", Net: "tcp", Err: err}})
	}
	gone := &rpc.LostError{Address: "a", Method: "create", Err: io.EOF}
	tests := map[string]struct {
		err  error
		want string
	}{
		"exception":                     {fmt.Errorf("create: %w", remote("org.apache.hadoop.security.AccessControlException")), "AccessControlException"},
		"inner class":                   {remote("a.b.Outer$Inner"), "Inner"},
		"exception while connecting":    {&rpc.ConnectError{Address: "a", Err: remote("org.apache.hadoop.security.AccessControlException")}, "AccessControlException"},
		"refused":                       {dialing(os.NewSyscallError("connect", syscall.ECONNREFUSED)), "ConnectionRefused"},
		"no route":                      {dialing(os.NewSyscallError("connect", syscall.EHOSTUNREACH)), "Unreachable"},
		"dial timeout":                  {dialing(os.ErrDeadlineExceeded), "Timeout"},
		"unknown host":                  {dialing(&net.DNSError{Err: "no such host", Name: "a", IsNotFound: true}), "UnknownHost"},
		"call timeout":                  {&rpc.LostError{Timeout: true, Err: errors.New("no answer in 60s")}, "Timeout"},
		"lost":                          {gone, "ConnectionLost"},
		"lost for an unnamed reason":    {&rpc.LostError{Err: errors.New("undecodable")}, "ConnectionLost"},
		"stopped":                       {&rpc.LostError{Err: context.Canceled}, "Stopped"},
		"deadline of the caller":        {&rpc.LostError{Err: context.DeadlineExceeded}, "Timeout"},
		"too large":                     {&rpc.TooLargeError{}, "TooLarge"},
		"not active":                    {&namenode.StateError{State: "STANDBY"}, "StandbyException"},
		"given up":                      {&namenode.UnreachableError{Answers: []namenode.Answer{{Address: "a", Err: gone}, {Address: "b", Err: remote(standbyException)}}}, "ConnectionLost"},
		"given up without an answer":    {&namenode.UnreachableError{}, "IOError"},
		"anything else":                 {errors.New("odd"), "IOError"},
		"any other timeout":             {&net.OpError{Op: "read", Err: timeout{}}, "Timeout"},
		"an exception without its name": {&rpc.RemoteError{Message: "odd"}, "IOError"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := namenode.Class(tt.err); got != tt.want {
				t.Errorf("Class(%v) = %q, want %q", tt.err, got, tt.want)
			}
		})
	}
}

type timeout struct{}

func (timeout) Error() string   { return "slow" }
func (timeout) Timeout() bool   { return true }
func (timeout) Temporary() bool { return true }

func TestText(t *testing.T) {
	denied := &rpc.RemoteError{Class: "org.apache.hadoop.security.AccessControlException", Message: "Permission denied: user=bob\n\tat a.b(C.java:1)"}
	tests := map[string]struct {
		err  error
		want string
	}{
		"without the stack": {fmt.Errorf("create: %w", denied), "create: AccessControlException: Permission denied: user=bob"},
		"given up": {&namenode.UnreachableError{Method: "create", Attempts: 3, Took: 1234567 * time.Microsecond, Answers: []namenode.Answer{
			{Address: "a:1", Err: denied}, {Address: "b:1", Err: io.EOF},
		}}, "create: no NameNode answers after 3 attempts, 1.235s after the first one failed: a:1: AccessControlException: Permission denied: user=bob; b:1: EOF"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := namenode.Text(tt.err); got != tt.want {
				t.Errorf("Text = %q, want %q", got, tt.want)
			}
		})
	}
}
