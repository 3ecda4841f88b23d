package registry

import (
	"context"
	"errors"
	"fmt"
	"net"
	"path"
	"strings"
	"sync"
	"time"

	"github.com/go-zookeeper/zk"
)

// zooKeeper asks ZooKeeper. Each question has a session of its own: they are rare, and an idle session costs its servers
// more than a new one.
type zooKeeper struct{ config Config }

// Names of znodes.
const (
	metaZnode    = "meta-region-server"
	masterZnode  = "master"
	clusterZnode = "hbaseid"
)

func (z *zooKeeper) MetaServer(ctx context.Context) (Server, error) {
	value, err := z.read(ctx, metaZnode)
	if err != nil {
		return Server{}, fmt.Errorf("ask ZooKeeper for the server of hbase:meta: %w", err)
	}
	s, state, err := parseServer(value)
	if err != nil {
		return Server{}, fmt.Errorf("ask ZooKeeper for the server of hbase:meta: %s: %w", z.path(metaZnode), err)
	}
	if state != 0 && state != stateOpen {
		return Server{}, fmt.Errorf("hbase:meta is not open yet, its state is %d at %s", state, s.Address)
	}
	return s, nil
}

func (z *zooKeeper) Master(ctx context.Context) (Server, error) {
	value, err := z.read(ctx, masterZnode)
	if err != nil {
		return Server{}, fmt.Errorf("ask ZooKeeper for the active master: %w", err)
	}
	s, _, err := parseServer(value)
	if err != nil {
		return Server{}, fmt.Errorf("ask ZooKeeper for the active master: %s: %w", z.path(masterZnode), err)
	}
	return s, nil
}

func (z *zooKeeper) ClusterID(ctx context.Context) (string, error) {
	value, err := z.read(ctx, clusterZnode)
	if err != nil {
		return "", fmt.Errorf("ask ZooKeeper for the cluster's identity: %w", err)
	}
	id, err := parseClusterID(value)
	if err != nil {
		return "", fmt.Errorf("ask ZooKeeper for the cluster's identity: %s: %w", z.path(clusterZnode), err)
	}
	return id, nil
}

func (z *zooKeeper) Close() error { return nil }

func (z *zooKeeper) path(name string) string { return path.Join(z.config.Parent, name) }

// read returns a znode's value.
func (z *zooKeeper) read(ctx context.Context, name string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, z.config.Timeout)
	defer cancel()
	d := newDialer(z.config.Quorum)
	conn, _, err := zk.Connect(z.config.Quorum, z.config.SessionTimeout, zk.WithLogger(silent{}), zk.WithLogInfo(false),
		zk.WithDialer(d.dial), zk.WithHostProvider(&rotation{}), zk.WithMaxBufferSize(maxZnode))
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	type result struct {
		value []byte
		err   error
	}
	done := make(chan result, 1)
	go func() {
		value, _, err := conn.Get(z.path(name))
		done <- result{value, err}
	}()
	select {
	case r := <-done:
		return r.value, z.explain(name, r.err, d)
	case <-d.exhausted:
		return nil, z.explain(name, errors.New("no server accepts a connection"), d)
	case <-ctx.Done():
		return nil, z.explain(name, context.Cause(ctx), d)
	}
}

// maxZnode bounds what ZooKeeper may answer, in bytes.
const maxZnode = 1 << 20

// explain adds to an error whom was asked and what can be done.
func (z *zooKeeper) explain(name string, err error, d *dialer) error {
	asked := strings.Join(z.config.Quorum, ",")
	switch {
	case err == nil:
		return nil
	case errors.Is(err, zk.ErrNoNode):
		return fmt.Errorf("%s is not there at %s: is HBase running, and is zookeeper.znode.parent %q right? %w", z.path(name), asked, z.config.Parent, err)
	case errors.Is(err, zk.ErrNoAuth):
		return fmt.Errorf("%s at %s may not be read: %w", z.path(name), asked, err)
	}
	if failed := d.failures(); failed != "" {
		return fmt.Errorf("%w (%s); check hbase.zookeeper.quorum and hbase.zookeeper.property.clientPort", err, failed)
	}
	return fmt.Errorf("%s: %w; is ZooKeeper serving, and is hbase.zookeeper.quorum right?", asked, err)
}

// A rotation hands out the servers in turn, in the order in which the library shuffled them. Unlike the library's own it
// leaves names to the dialer, so that one name that cannot be resolved does not stop the others.
type rotation struct {
	mu      sync.Mutex
	servers []string
	next    int
}

func (r *rotation) Init(servers []string) error {
	r.servers = servers
	return nil
}

func (r *rotation) Len() int   { return len(r.servers) }
func (r *rotation) Connected() {}

func (r *rotation) Next() (server string, retryStart bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	server = r.servers[r.next%len(r.servers)]
	retryStart = r.next > 0 && r.next%len(r.servers) == 0
	r.next++
	return server, retryStart
}

// A dialer connects and remembers what failed. exhausted is closed once no server is left that was not tried.
type dialer struct {
	exhausted chan struct{}

	mu     sync.Mutex
	wanted int
	failed map[string]error
	order  []string
}

func newDialer(servers []string) *dialer {
	distinct := map[string]bool{}
	for _, s := range servers {
		distinct[s] = true
	}
	return &dialer{exhausted: make(chan struct{}), wanted: len(distinct), failed: map[string]error{}}
}

func (d *dialer) dial(network, address string, timeout time.Duration) (net.Conn, error) {
	conn, err := net.DialTimeout(network, address, timeout)
	if err != nil {
		d.note(address, err)
	}
	return conn, err
}

func (d *dialer) note(address string, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if _, again := d.failed[address]; again {
		return
	}
	d.failed[address] = err
	d.order = append(d.order, address)
	if len(d.failed) == d.wanted {
		close(d.exhausted)
	}
}

// failures lists what failed, in order.
func (d *dialer) failures() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	all := make([]string, len(d.order))
	for i, address := range d.order {
		all[i] = fmt.Sprintf("%s: %v", address, d.failed[address])
	}
	return strings.Join(all, "; ")
}

// silent drops what the library would log: what matters comes back as an error.
type silent struct{}

func (silent) Printf(string, ...any) {}
