package rpc_test

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/hadoop-bench/operator/runner/hbase/rpc"
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

// serveNull answers each call with the same bytes until its standard input ends.
func serveNull() {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Println(err)
		return
	}
	go func() {
		for {
			nc, err := l.Accept()
			if err != nil {
				return
			}
			go serveNullTo(nc)
		}
	}()
	fmt.Println(l.Addr())
	_, _ = bufio.NewReader(os.Stdin).ReadString('\n')
}

// nullCells is how many bytes of cells an answer has: those of a row of YCSB's, 10 columns of 100 bytes.
const nullCells = 1400

// serveNullTo answers what is there, and then sends the answers at once. It allocates nothing for a call, and reads of a
// request only its length and, from where this package's client puts it, its call id.
func serveNullTo(nc net.Conn) {
	defer func() { _ = nc.Close() }()
	in := bufio.NewReaderSize(nc, 256<<10)
	var out, frame []byte
	read := func(n int) bool {
		if n > cap(frame) {
			frame = make([]byte, n)
		}
		frame = frame[:n]
		_, err := io.ReadFull(in, frame)
		return err == nil
	}
	if !read(6) || !read(4) || !read(int(binary.BigEndian.Uint32(frame))) {
		return
	}
	body, cells := []byte{0x0a, 0x02, 0x10, 10}, make([]byte, nullCells)
	meta := protowire.AppendVarint([]byte{3<<3 | 2, 3, 1 << 3}, nullCells)
	for {
		if in.Buffered() == 0 && len(out) > 0 {
			if _, err := nc.Write(out); err != nil {
				return
			}
			out = out[:0]
		}
		if !read(4) || !read(int(binary.BigEndian.Uint32(frame))) {
			return
		}
		id, n := protowire.ConsumeVarint(frame[2:])
		if n < 0 {
			return
		}
		start := len(out)
		out = append(out, 0, 0, 0, 0, byte(1+n+len(meta)), 1<<3)
		out = protowire.AppendVarint(out, id)
		out = append(append(append(append(out, meta...), byte(len(body))), body...), cells...)
		binary.BigEndian.PutUint32(out[start:], uint32(len(out)-start-4))
	}
}

// startNull starts a null server in a process of its own.
func startNull(t testing.TB) (address string) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), nullServer+"=1")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = in.Close(); _ = cmd.Wait() })
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(line)
}

// getOrPut are the calls that benchmarks make: a Get's, and a Put's with a row of YCSB's in its cellblock.
func getOrPut(address string) map[string]rpc.Call {
	call := rpc.Call{Address: address, Service: rpc.ClientService, Method: "Get", Param: make([]byte, 120)}
	put := call
	put.Method, put.Cells = "Mutate", make([]byte, nullCells)
	return map[string]rpc.Call{"Get": call, "Mutate": put}
}

func TestDoAllocatesNothing(t *testing.T) {
	for name, call := range getOrPut(startNull(t)) {
		c, ctx := newClient(t, rpc.Options{}), deadline(t)
		call.Timeout = time.Second
		one := func() {
			if err := c.Do(ctx, &call); err != nil || len(call.Answer) != nullCells {
				t.Fatalf("got %d bytes of cells and error %v", len(call.Answer), err)
			}
		}
		for range 100 {
			one()
		}
		if n := testing.AllocsPerRun(1000, one); n != 0 {
			t.Errorf("%s allocated %v times", name, n)
		}
	}
}

// BenchmarkCall makes calls over the loopback interface to a server in another process. calls/cpu-s is how many calls a
// core of the client makes in a second: calls over this process's user and system time.
func BenchmarkCall(b *testing.B) {
	for _, callers := range []int{1, 8, 64} {
		for name, call := range getOrPut("") {
			b.Run(fmt.Sprintf("%s/callers=%d", name, callers), func(b *testing.B) { benchmarkCall(b, callers, &call) })
		}
	}
}

func benchmarkCall(b *testing.B, callers int, like *rpc.Call) {
	address := startNull(b)
	c := newClient(b, rpc.Options{})
	var left atomic.Int64
	var wait sync.WaitGroup
	b.ReportAllocs()
	b.ResetTimer()
	before := cpu(b)
	left.Store(int64(b.N))
	for range callers {
		wait.Go(func() {
			call := rpc.Call{Address: address, Service: like.Service, Method: like.Method, Param: like.Param, Cells: like.Cells}
			for left.Add(-1) >= 0 {
				if err := c.Do(b.Context(), &call); err != nil {
					b.Error(err)
					return
				}
			}
		})
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
