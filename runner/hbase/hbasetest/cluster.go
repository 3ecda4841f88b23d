package hbasetest

import (
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hadoop-bench/operator/runner/hbase/registry"
	"github.com/hadoop-bench/operator/runner/measure"
)

// Options of a [Cluster].
type Options struct {
	Servers int // RegionServers. Default: 1
	Tables  []Table
	// Delay is how long after a request its answer is sent. It takes no goroutine per call.
	Delay time.Duration
	// Null answers every Get with the same row of NullColumns columns of NullValue bytes, and every Mutate with success,
	// without looking at the request or keeping anything.
	Null                   bool
	NullColumns, NullValue int
	// Old has the servers be of an early HBase 1: no GetActiveMaster, no states in hbase:meta, and no limit of a scan's rows,
	// which 1.4 and later know.
	Old bool
	// Fault is asked before each request for a table's data is carried out, by one goroutine per connection.
	Fault func(Request) Fault
}

// A Table is one of a Cluster's.
type Table struct {
	Name     string // name, or namespace:name
	Families []string
	Splits   []string // first keys of all regions but the first, in order
	Disabled bool
}

// A Request is what a Fault may depend on. For a Multi it is asked for each region.
type Request struct {
	Server int // which RegionServer, from 0
	Method string
	Table  string
	Region string // name
	Count  int64  // of requests to this cluster for data, from 1
}

// A Fault is what happens to a request. The zero value: nothing.
type Fault struct {
	Exception *Exception // the answer, instead
	Drop      bool       // the connection is closed; nothing is carried out
	Lose      bool       // the request is carried out, and then the connection is closed
	Silent    bool       // there is no answer at all
}

// An Exception is what servers answer with.
type Exception struct {
	Class, Message string
	Host           string
	Port           int
	DoNotRetry     bool
	Overloaded     bool
}

// A Cluster is a master and RegionServers.
type Cluster struct {
	o       Options
	clock   measure.Clock
	servers []*server // the last one is the master
	null    nullAnswer
	count   atomic.Int64
	stalled atomic.Int64 // until then, in nanoseconds since the epoch, no answer is sent

	mu       sync.Mutex
	tables   map[string]*table
	regions  []*region
	scanners map[uint64]*scanner
	calls    map[string]int64
	lastID   uint64
	now      uint64 // timestamp of the last cell
	metaAt   int
}

// Start makes a cluster that is closed when the test ends.
func Start(t testing.TB, o Options) *Cluster {
	t.Helper()
	c, err := Listen(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// Listen makes a cluster on free ports.
func Listen(o Options) (*Cluster, error) {
	o.Servers = max(o.Servers, 1)
	c := &Cluster{
		o: o, clock: measure.System(), tables: map[string]*table{}, scanners: map[uint64]*scanner{},
		calls: map[string]int64{}, null: newNullAnswer(o),
	}
	for i := range o.Servers + 1 {
		s, err := listen(c, i)
		if err != nil {
			c.Close()
			return nil, err
		}
		c.servers = append(c.servers, s)
	}
	for _, t := range o.Tables {
		c.create(t)
	}
	for _, s := range c.servers {
		s.wait.Add(1)
		go s.accept()
	}
	return c, nil
}

// Close ends all servers.
func (c *Cluster) Close() {
	for _, s := range c.servers {
		s.close()
	}
}

// Registry is how clients find the cluster: by RPC.
func (c *Cluster) Registry() registry.Config {
	return registry.Config{Kind: registry.RPC, Servers: []string{c.servers[len(c.servers)-1].address}}
}

// Address is a RegionServer's.
func (c *Cluster) Address(i int) string { return c.servers[i].address }

// Kill ends a RegionServer: its connections break, and there is nobody any more at its address. Its regions stay where they
// are until they are moved.
func (c *Cluster) Kill(i int) { c.servers[i].close() }

// DropAll breaks all connections.
func (c *Cluster) DropAll() {
	for _, s := range c.servers {
		s.drop()
	}
}

// Stall holds back all answers for a time from now.
func (c *Cluster) Stall(d time.Duration) { c.stalled.Store(time.Now().Add(d).UnixNano()) }

// Calls is how many calls of a method came so far. Those to hbase:meta count as meta.Scan and so on.
func (c *Cluster) Calls(method string) int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.calls[method]
}

// Scanners is how many scanners are open.
func (c *Cluster) Scanners() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.scanners)
}

// ForgetScanners has all scanners be unknown, as if their time were over.
func (c *Cluster) ForgetScanners() {
	c.mu.Lock()
	defer c.mu.Unlock()
	clear(c.scanners)
}

// Move puts the region of a row on another server. If told, the old server says where it is now.
func (c *Cluster) Move(table, row string, to int, told bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	r := c.find(table, row)
	r.movedFrom, r.told = r.server, told
	r.server = to
}

// MoveMeta puts hbase:meta on another server.
func (c *Cluster) MoveMeta(to int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.metaAt = to
}

// Split splits the region of a key at it. The upper half goes to server to.
func (c *Cluster) Split(table, key string, to int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	r := c.find(table, key)
	end := r.end
	r.gone = true
	c.addRegion(r.table, r.start, key, r.server)
	c.addRegion(r.table, key, end, to)
}

// Close a region: it is assigned nowhere until it is moved.
func (c *Cluster) Unassign(table, row string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.find(table, row).server = nowhere
}

// Value is what a row has in family:qualifier; empty if nothing.
func (c *Cluster) Value(table, row, column string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return string(c.tables[table].rows[row][column].value)
}

// Rows is how many rows a table has.
func (c *Cluster) Rows(table string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.tables[table].rows)
}

// A server listens.
type server struct {
	cluster  *Cluster
	number   int
	address  string
	listener net.Listener
	wait     sync.WaitGroup

	mu    sync.Mutex
	open  map[net.Conn]bool
	ended bool
}

func listen(c *Cluster, number int) (*server, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listen for a fake server of HBase: %w", err)
	}
	return &server{cluster: c, number: number, address: l.Addr().String(), listener: l, open: map[net.Conn]bool{}}, nil
}

func (s *server) accept() {
	defer s.wait.Done()
	for {
		nc, err := s.listener.Accept()
		if err != nil {
			return
		}
		s.mu.Lock()
		if s.ended {
			s.mu.Unlock()
			_ = nc.Close()
			return
		}
		s.open[nc] = true
		s.wait.Add(1)
		s.mu.Unlock()
		go func() {
			defer s.wait.Done()
			newConn(s, nc).serve()
			s.mu.Lock()
			delete(s.open, nc)
			s.mu.Unlock()
		}()
	}
}

func (s *server) drop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for nc := range s.open {
		_ = nc.Close()
	}
}

func (s *server) close() {
	s.mu.Lock()
	s.ended = true
	s.mu.Unlock()
	_ = s.listener.Close()
	s.drop()
	s.wait.Wait()
}
