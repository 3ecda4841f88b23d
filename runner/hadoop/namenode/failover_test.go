package namenode_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"

	"github.com/hadoop-bench/operator/runner/hadoop/namenode"
	"github.com/hadoop-bench/operator/runner/hadoop/rpc"
	"github.com/hadoop-bench/operator/runner/hadoop/sasl"
	"github.com/hadoop-bench/operator/runner/hadoop/wire"
)

func lost() error { return &rpc.LostError{Address: "x", Method: "mkdirs", Err: io.EOF} }

func refusedDial() error {
	return &rpc.ConnectError{Address: "x", Err: errors.New("connection refused")}
}

func timedOut() error {
	return &rpc.LostError{Address: "x", Method: "mkdirs", Timeout: true, Err: errors.New("no answer")}
}

func made() proto.Message {
	m := &wire.MkdirsResponseProto{}
	m.SetResult(true)
	return m
}

// script answers the attempts of one call one after the other; nil is the answer true.
func script(errs ...error) func(attempt) (proto.Message, error) {
	n := 0
	return func(attempt) (proto.Message, error) {
		n++
		if n > len(errs) {
			return made(), nil
		}
		return made(), errs[n-1]
	}
}

func TestRepetition(t *testing.T) {
	const second = time.Second
	standby, retriable := remote(standbyException), remote(retriableException)
	tests := map[string]struct {
		addresses []string
		failures  []error
		want      string // addresses of the attempts
		waits     []time.Duration
		active    string // afterwards
		err       string // part of it
	}{
		"answered at once":                  {[]string{"a", "b"}, nil, "a", nil, "a", ""},
		"standby":                           {[]string{"a", "b"}, []error{standby}, "ab", nil, "b", ""},
		"observer":                          {[]string{"a", "b"}, []error{remote("org.apache.hadoop.hdfs.server.namenode.ha.ObserverRetryOnActiveException")}, "ab", nil, "b", ""},
		"connection lost":                   {[]string{"a", "b"}, []error{lost()}, "ab", nil, "b", ""},
		"no connection":                     {[]string{"a", "b"}, []error{refusedDial()}, "ab", nil, "b", ""},
		"no answer in time":                 {[]string{"a", "b"}, []error{timedOut()}, "ab", nil, "b", ""},
		"lost, and the other is standby":    {[]string{"a", "b"}, []error{lost(), standby}, "aba", []time.Duration{second}, "a", ""},
		"three NameNodes":                   {[]string{"a", "b", "c"}, []error{standby, standby, standby}, "abca", []time.Duration{second, 2 * second}, "a", ""},
		"no active one for a while":         {[]string{"a", "b"}, []error{standby, standby, standby, standby, standby, standby, standby}, "abababab", []time.Duration{second, 2 * second, 4 * second, 8 * second, 15 * second, 15 * second}, "b", ""},
		"patience":                          {[]string{"a", "b"}, []error{retriable, retriable, retriable}, "aaaa", []time.Duration{second, 2 * second}, "a", ""},
		"patience is counted apart":         {[]string{"a", "b"}, []error{retriable, standby, retriable, standby}, "aabba", []time.Duration{second, second}, "a", ""},
		"one NameNode, connection lost":     {[]string{"a"}, []error{lost(), refusedDial(), refusedDial()}, "aaaa", []time.Duration{second, 2 * second}, "a", ""},
		"one NameNode is gone":              {[]string{"a"}, []error{lost(), refusedDial(), refusedDial(), refusedDial(), refusedDial(), refusedDial()}, "aaaaaa", []time.Duration{second, 2 * second, 4 * second, 3 * second}, "a", "mkdirs: no NameNode answers after 6 attempts, 10s after the first one failed: a: connect to x: connection refused"},
		"safe mode is the caller's":         {[]string{"a", "b"}, []error{remote(safeModeException)}, "a", nil, "a", "mkdirs: SafeModeException: said so"},
		"any other exception too":           {[]string{"a", "b"}, []error{lost(), remote("org.apache.hadoop.security.AccessControlException")}, "ab", nil, "b", "mkdirs: AccessControlException: said so"},
		"refused while connecting":          {[]string{"a", "b"}, []error{&rpc.ConnectError{Address: "a", Err: remote("org.apache.hadoop.security.AccessControlException")}}, "a", nil, "a", "connect to a: AccessControlException"},
		"standby while connecting":          {[]string{"a", "b"}, []error{&rpc.ConnectError{Address: "a", Err: standby}}, "ab", nil, "b", ""},
		"no ticket":                         {[]string{"a", "b"}, []error{&rpc.ConnectError{Address: "a", Err: &sasl.LoginError{Err: io.EOF}}}, "a", nil, "a", "get a ticket"},
		"a request that is too large":       {[]string{"a", "b"}, []error{&rpc.TooLargeError{Method: "mkdirs", Size: 3, Limit: 2}}, "a", nil, "a", "the limit"},
		"patience has an end":               {[]string{"a", "b"}, slices.Repeat([]error{retriable}, 4), "aaaa", []time.Duration{second, 2 * second}, "a", "after 4 attempts, 3s after the first one failed: a: RetriableException: said so"},
		"turning from one to another too":   {[]string{"a", "b"}, slices.Repeat([]error{standby}, 9), "abababab", []time.Duration{second, 2 * second, 4 * second, 8 * second, 15 * second, 15 * second}, "a", "after 8 attempts, 45s after the first one failed: a: StandbyException: said so; b: StandbyException: said so"},
		"an answer in between is not known": {[]string{"a", "b"}, []error{errors.New("encode the request")}, "a", nil, "a", "mkdirs: encode the request"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			turned := "a"
			limits := func(o *namenode.Options) {
				o.Failover.MaxAttempts, o.Failover.MaxRetries = 7, 3
				o.OnFailover = func(from, to string) { turned += " " + from + to }
			}
			client, f, c := connected(t, limits, tt.addresses, script(tt.failures...))
			before := len(f.attempts)
			ok, err := client.Worker(0).Mkdirs(t.Context(), "/d", 0o777, true)
			if ok != (err == nil) || (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
				t.Errorf("Mkdirs = %v, %v; want error %q", ok, err, tt.err)
			}
			var addresses string
			for i, a := range f.since(before) {
				addresses += a.Address
				if want := (attempt{a.Address, clientProtocol, "mkdirs", 0, f.attempts[before].ID, int32(i)}); a != want {
					t.Errorf("attempt %d is %+v, want %+v", i, a, want)
				}
			}
			if addresses != tt.want {
				t.Errorf("attempts at %q, want %q", addresses, tt.want)
			}
			if diff := cmp.Diff(tt.waits, c.waits); diff != "" {
				t.Errorf("waits (-want +got):\n%s", diff)
			}
			if want := strings.TrimSuffix("a a"+tt.active, " aa"); turned != want {
				t.Errorf("failovers %q, want %q", turned, want)
			}
			if client.Address() != tt.active {
				t.Errorf("active is %q, want %q", client.Address(), tt.active)
			}
		})
	}
}

func TestJitter(t *testing.T) {
	sequence := []float64{0, 0.25, 0.999}
	next := func() float64 { r := sequence[0]; sequence = sequence[1:]; return r }
	client, _, c := connected(t, func(o *namenode.Options) { o.Random = next }, []string{"a", "b"},
		script(lost(), lost(), lost(), lost()))
	if _, err := client.Worker(0).Mkdirs(t.Context(), "/d", 0o777, true); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]time.Duration{500 * time.Millisecond, 1500 * time.Millisecond, 5996 * time.Millisecond}, c.waits); diff != "" {
		t.Errorf("waits (-want +got):\n%s", diff)
	}
}

// TestNewIDs: each call has an id of its own, whatever became of the one before.
func TestNewIDs(t *testing.T) {
	client, f, _ := connected(t, nil, []string{"a", "b"}, script(lost(), remote(safeModeException)))
	before := len(f.attempts)
	w := client.Worker(0)
	_, _ = w.Mkdirs(t.Context(), "/d", 0o777, true)
	_, _ = w.Mkdirs(t.Context(), "/d", 0o777, true)
	a := f.since(before)
	if len(a) != 3 || a[0].ID != a[1].ID || a[1].Retry != 1 || a[2].ID == a[0].ID || a[2].Retry != 0 {
		t.Errorf("attempts %+v", a)
	}
}

// TestOneTurnForAllThreads: calls that were under way when the active NameNode changed do not turn away from the new one.
func TestOneTurnForAllThreads(t *testing.T) {
	const threads = 64
	var turns []string
	arrived, failed := make(chan struct{}), sync.WaitGroup{}
	failed.Add(threads)
	onFailover := func(from, to string) { turns = append(turns, from+to) }
	client, f, c := connected(t, func(o *namenode.Options) { o.OnFailover = onFailover }, []string{"a", "b"}, func(a attempt) (proto.Message, error) {
		if a.Address == "a" {
			failed.Done()
			<-arrived
			return nil, lost()
		}
		return made(), nil
	})
	before := len(f.attempts)
	var threadsDone sync.WaitGroup
	for i := range threads {
		w := client.Worker(i)
		threadsDone.Go(func() {
			if ok, err := w.Mkdirs(context.Background(), "/d", 0o777, true); !ok || err != nil {
				t.Errorf("thread %d: %v, %v", i, ok, err)
			}
		})
	}
	failed.Wait() // all threads' calls are under way
	close(arrived)
	threadsDone.Wait()
	if diff := cmp.Diff([]string{"ab"}, turns); diff != "" || len(c.waits) != 0 {
		t.Errorf("turns (-want +got), waits %v:\n%s", c.waits, diff)
	}
	if n := len(f.since(before)); n != 2*threads {
		t.Errorf("%d attempts, want %d", n, 2*threads)
	}
}

// sleeper is a clock whose waits last until the context ends.
type sleeper struct {
	clock
	waiting chan struct{}
}

func (s *sleeper) Wait(ctx context.Context, d time.Duration) error {
	s.waiting <- struct{}{}
	<-ctx.Done()
	return context.Cause(ctx)
}

// TestOneSuccessWakesAll: who waits for a NameNode goes on when another thread has found it.
func TestOneSuccessWakesAll(t *testing.T) {
	s := &sleeper{waiting: make(chan struct{})}
	var mu sync.Mutex
	seen := map[int]int{}
	client, _, _ := connected(t, func(o *namenode.Options) { o.Clock = s }, []string{"a", "b"}, func(a attempt) (proto.Message, error) {
		mu.Lock()
		defer mu.Unlock()
		seen[a.Connection]++
		// Thread 0 waits after its second failure; thread 1 fails once only.
		if a.Connection == 0 && seen[0] <= 2 || seen[a.Connection] == 1 {
			return nil, lost()
		}
		return made(), nil
	})
	done := make(chan error)
	go func() {
		_, err := client.Worker(0).Mkdirs(context.Background(), "/d", 0o777, true)
		done <- err
	}()
	<-s.waiting
	if _, err := client.Worker(1).Mkdirs(t.Context(), "/d", 0o777, true); err != nil {
		t.Errorf("the other thread: %v", err)
	}
	if err := <-done; err != nil {
		t.Errorf("the waiting thread: %v", err)
	}
}

func TestContextEndsRepetition(t *testing.T) {
	reason := errors.New("ordered to stop")
	tests := map[string]error{ // how attempts fail
		"while a call is under way": &rpc.LostError{Err: reason},
		"while it waits":            lost(),
	}
	for name, failure := range tests {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			s := &sleeper{waiting: make(chan struct{})}
			client, _, _ := connected(t, func(o *namenode.Options) { o.Clock = s }, []string{"a"}, func(attempt) (proto.Message, error) {
				if name == "while a call is under way" {
					cancel(reason)
				}
				return nil, failure
			})
			go func() {
				select {
				case <-s.waiting:
					cancel(reason)
				case <-ctx.Done():
				}
			}()
			if _, err := client.Worker(0).Mkdirs(ctx, "/d", 0o777, true); !errors.Is(err, reason) || errors.Is(err, namenode.ErrUnreachable) {
				t.Errorf("error %v, want %v", err, reason)
			}
		})
	}
}

func TestCloseEndsRepetition(t *testing.T) {
	for name, failure := range map[string]error{"waiting for a NameNode": lost(), "asked for patience": remote(retriableException)} {
		t.Run(name, func(t *testing.T) {
			s := &sleeper{waiting: make(chan struct{})}
			client, f, _ := connected(t, func(o *namenode.Options) { o.Clock = s }, []string{"a", "b"}, func(attempt) (proto.Message, error) {
				return nil, failure
			})
			before := len(f.attempts)
			closed := make(chan error)
			go func() {
				<-s.waiting
				closed <- client.Close()
			}()
			_, err := client.Worker(0).Mkdirs(t.Context(), "/d", 0o777, true)
			if !errors.Is(err, failure) || errors.Is(err, namenode.ErrUnreachable) {
				t.Errorf("error %v, want %v", err, failure)
			}
			if err := <-closed; err != nil || len(f.since(before)) != 3 {
				t.Errorf("Close: %v; attempts %v", err, f.since(before))
			}
		})
	}
}

func TestUnreachableError(t *testing.T) {
	client, _, _ := connected(t, nil, []string{"a", "b"}, func(a attempt) (proto.Message, error) {
		return nil, map[string]error{"a": fmt.Errorf("lost: %w", lost()), "b": remote(standbyException)}[a.Address]
	})
	_, err := client.Worker(0).Mkdirs(t.Context(), "/d", 0o777, true)
	var unreachable *namenode.UnreachableError
	if !errors.As(err, &unreachable) || !errors.Is(err, namenode.ErrUnreachable) || !errors.Is(err, io.EOF) || !rpc.Is(err, "StandbyException") {
		t.Fatalf("error %v does not hold what the NameNodes said", err)
	}
	if unreachable.Method != "mkdirs" || unreachable.Attempts != 16 || len(unreachable.Answers) != 2 || unreachable.Answers[1].Address != "b" {
		t.Errorf("error %+v", unreachable)
	}
	// 1, 2, 4 and 8 s, then 15 s each.
	if unreachable.Took != 165*time.Second {
		t.Errorf("it took %v", unreachable.Took)
	}
}
