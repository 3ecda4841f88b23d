package rpc_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/hadoop-bench/operator/runner/hadoop/rpc"
	"github.com/hadoop-bench/operator/runner/hadoop/rpctest"
	"github.com/hadoop-bench/operator/runner/hadoop/sasl"
	"github.com/hadoop-bench/operator/runner/hadoop/wire"
)

// nullServer in the environment makes the test binary a server that answers at once, so that a benchmark's own process
// uses the CPU for the client alone.
const nullServer = "RPC_TEST_NULL_SERVER"

func TestMain(m *testing.M) {
	if os.Getenv(nullServer) != "" {
		serveNull()
		return
	}
	os.Exit(m.Run())
}

// serveNull answers each call with the same file's status until its standard input ends. With a protection in the
// environment it asks for Kerberos.
func serveNull() {
	answer, err := proto.Marshal(fileInfo("hdfs"))
	if err != nil {
		fmt.Println(err)
		return
	}
	o := rpctest.Options{Handler: func(string, []byte) ([]byte, error) { return answer, nil }}
	if word := os.Getenv(nullServer); word != simple {
		if o.Kerberos, err = nullAcceptor(word); err != nil {
			fmt.Println(err)
			return
		}
	}
	s, err := rpctest.Listen(o)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.Close()
	fmt.Println(s.Address())
	_, _ = bufio.NewReader(os.Stdin).ReadString('\n')
}

// nullAcceptor is the null server's service; its key is the same in each process.
func nullAcceptor(protection string) (*rpctest.Acceptor, error) {
	return rpctest.NewAcceptor("nn/127.0.0.1", testRealm, aes256SHA1, sasl.Protection(protection))
}

// startNull starts a null server in a process of its own.
func startNull(b *testing.B, protection string) (address string) {
	b.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), nullServer+"="+protection)
	in, err := cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = in.Close(); _ = cmd.Wait() })
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		b.Fatal(err)
	}
	return strings.TrimSpace(line)
}

// simple stands for no authentication, beside the words of hadoop.rpc.protection.
const simple = "simple"

// BenchmarkCall makes calls of getFileInfo over the loopback interface to a server in another process. calls/cpu-s is how
// many calls a core of the client makes in a second: calls over this process's user and system time.
//
// The three allocations of a call are all protobuf's, for the response: the file's status, its owner's text and the
// string that points to it. The request is the caller's and is used again; header, frame, the answer's bytes, the entry of
// the table of calls in flight and the channel that wakes the caller belong to the Call or to the connection. What is left
// over three comes from opening the connection and, where calls are sealed, from some 25 allocations for a sealed message
// and its answer, which hold the frames of all callers that were ready together.
func BenchmarkCall(b *testing.B) {
	for _, protection := range []string{simple, string(sasl.Privacy)} {
		for _, callers := range []int{1, 16, 64} {
			b.Run(fmt.Sprintf("%s/callers=%d", protection, callers), func(b *testing.B) {
				benchmarkCall(b, protection, callers)
			})
		}
	}
}

// nullClient is a client of the null server.
func nullClient(b *testing.B, protection string) *rpc.Client {
	b.Helper()
	if protection == simple {
		return newClient(b, rpc.Options{})
	}
	a, err := nullAcceptor(protection)
	if err != nil {
		b.Fatal(err)
	}
	return newClient(b, rpc.Options{Kerberos: a.Login("alice"), Protection: []string{protection}, ServerPrincipal: testPrincipal})
}

func benchmarkCall(b *testing.B, protection string, callers int) {
	address := startNull(b, protection)
	c := nullClient(b, protection)
	ctx, cancel := context.WithCancel(b.Context())
	defer cancel()
	var left atomic.Int64
	var wait sync.WaitGroup
	b.ReportAllocs()
	b.ResetTimer()
	before := cpu(b)
	left.Store(int64(b.N))
	for range callers {
		wait.Add(1)
		go func() {
			defer wait.Done()
			call := rpc.Call{
				Address: address, Protocol: clientProtocol, Method: "getFileInfo",
				Request: request("/nnThroughputBenchmark/fileStatus/ThroughputBenchDir0/ThroughputBench1"), Response: &wire.GetFileInfoResponseProto{},
			}
			for left.Add(-1) >= 0 {
				call.ID = c.NewCallID()
				if err := c.Do(ctx, &call); err != nil {
					b.Error(err)
					return
				}
			}
		}()
	}
	wait.Wait()
	b.StopTimer()
	b.ReportMetric(float64(b.N)/(cpu(b)-before).Seconds(), "calls/cpu-s")
}

// cpu is the process's user and system time.
func cpu(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
