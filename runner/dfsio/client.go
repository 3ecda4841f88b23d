package dfsio

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"net"
	"os"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/colinmarc/hdfs/v2"

	"github.com/hadoop-bench/operator/runner/measure"
)

// Connection says how a worker reaches HDFS.
type Connection struct {
	Addresses   []string // host:port of the NameNodes; the active one is found
	User        string   // of simple authentication
	UseHostname bool     // connect to DataNodes by name, not by address
	DialTimeout time.Duration
	IdleTimeout time.Duration // for one read or write on a connection; DataNodes get a little more
	// Grace is how long connections outlive the context, so that a stopped worker can close its file.
	Grace time.Duration
	Clock measure.Clock
}

// dataNodeExtra is how much longer than a NameNode a DataNode may be silent: it waits for those behind it in the
// pipeline.
const dataNodeExtra = 15 * time.Second

// client is a FS on github.com/colinmarc/hdfs/v2, which serves one goroutine at a time.
type client struct {
	hdfs           *hdfs.Client
	connection     Connection
	ctx            context.Context // ends when connections break
	nameNode, data *dialer
	received, sent atomic.Int64
	release        func()
}

// Connect returns a FS of the colinmarc client. Grace after ctx ends, all its connections break and every call on it
// fails.
func Connect(ctx context.Context, connection Connection) (FS, error) {
	c := &client{connection: connection}
	breaks, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	c.ctx = breaks
	c.nameNode = c.dialer(connection.IdleTimeout, nil)
	c.nameNode.wrap = func(nn net.Conn) net.Conn {
		wait := func(d time.Duration) error { return connection.Clock.Wait(breaks, d) }
		return &retryConn{Conn: nn, now: connection.Clock.Now, wait: wait}
	}
	c.data = c.dialer(connection.IdleTimeout+dataNodeExtra, joinAddress)
	stop := context.AfterFunc(ctx, func() {
		_ = connection.Clock.Wait(breaks, connection.Grace)
		cancel(context.Cause(ctx))
	})
	context.AfterFunc(breaks, func() {
		c.nameNode.closeAll()
		c.data.closeAll()
	})
	c.release = func() {
		stop()
		cancel(net.ErrClosed)
	}
	var err error
	c.hdfs, err = hdfs.NewClient(hdfs.ClientOptions{
		Addresses:           connection.Addresses,
		User:                connection.User,
		UseDatanodeHostname: connection.UseHostname,
		NamenodeDialFunc:    c.nameNode.DialContext,
		DatanodeDialFunc:    c.data.DialContext,
	})
	if err != nil {
		c.release()
		return nil, fmt.Errorf("connect to HDFS: %w", err)
	}
	return c, nil
}

func (c *client) dialer(idle time.Duration, address func(string) string) *dialer {
	return &dialer{
		ctx: c.ctx, net: net.Dialer{Timeout: c.connection.DialTimeout}, idle: idle, address: address,
		open: map[*conn]struct{}{}, received: &c.received, sent: &c.sent,
	}
}

// Close breaks the connections. It does not wait for a call that the library's lease renewal has under way.
func (c *client) Close() error {
	c.release()
	c.nameNode.closeAll()
	c.data.closeAll()
	if err := c.hdfs.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
		return fmt.Errorf("close HDFS client: %w", err)
	}
	return nil
}

func (c *client) NameNode() string { return c.nameNode.lastAddress() }

func (c *client) Traffic() (received, sent int64) { return c.received.Load(), c.sent.Load() }

func (c *client) Stat(path string) (FileInfo, error) {
	info, err := c.hdfs.Stat(path)
	if err != nil {
		return FileInfo{}, c.wrap("look at", err)
	}
	return fileInfo(info), nil
}

func fileInfo(info os.FileInfo) FileInfo {
	f := FileInfo{Name: info.Name(), Size: info.Size(), Dir: info.IsDir(), ModTime: info.ModTime()}
	if status, ok := info.Sys().(*hdfs.FileStatus); ok {
		f.Encrypted = status.GetFileEncryptionInfo() != nil
		f.ErasureCoded = status.GetEcPolicy() != nil
	}
	return f
}

func (c *client) List(dir string) ([]FileInfo, error) {
	infos, err := c.hdfs.ReadDir(dir)
	if err != nil {
		return nil, c.wrap("list", err)
	}
	list := make([]FileInfo, len(infos))
	for i, info := range infos {
		list[i] = fileInfo(info)
	}
	return list, nil
}

func (c *client) Mkdir(path string) error { return c.wrap("make directory", c.hdfs.Mkdir(path, 0o755)) }

func (c *client) Remove(path string) error { return c.wrap("remove", c.hdfs.Remove(path)) }

func (c *client) Space() (Space, error) {
	s, err := c.hdfs.StatFs()
	if err != nil {
		return Space{}, c.wrap("ask for free space", err)
	}
	return Space{Capacity: clamp(s.Capacity), Remaining: clamp(s.Remaining)}, nil
}

func clamp(n uint64) int64 { return int64(min(n, math.MaxInt64)) }

func (c *client) Defaults() (Defaults, error) {
	d, err := c.hdfs.ServerDefaults()
	if err != nil {
		return Defaults{}, c.wrap("ask for the NameNode's defaults", err)
	}
	return Defaults{
		BlockSize: d.BlockSize, Replication: int64(d.Replication), BytesPerChecksum: int64(d.BytesPerChecksum),
		EncryptsTransfer: d.EncryptDataTransfer,
	}, nil
}

func (c *client) Create(path string, replication int, blockSize int64) (io.WriteCloser, error) {
	w, err := c.hdfs.CreateFile(path, replication, blockSize, 0o644)
	if err != nil {
		return nil, c.wrap("create", err)
	}
	return &writer{client: c, file: w}, nil
}

func (c *client) Open(path string) (io.ReadCloser, error) {
	r, err := c.hdfs.Open(path)
	if err != nil {
		return nil, c.wrap("open", err)
	}
	if r.Stat().IsDir() {
		return nil, &fs.PathError{Op: "open", Path: path, Err: syscall.EISDIR}
	}
	return r, nil
}

// wrap adds what was tried, and turns errors of broken connections into what broke them.
func (c *client) wrap(what string, err error) error {
	if err == nil {
		return nil
	}
	if errors.Is(err, syscall.ENOTEMPTY) {
		err = fmt.Errorf("%w: %w", ErrNotEmpty, err)
	}
	if cause := context.Cause(c.ctx); cause != nil {
		err = fmt.Errorf("%w: %w", cause, err)
	}
	return fmt.Errorf("%s: %w", what, err)
}

// writer is an open file. Its Write is the library's own.
type writer struct {
	client *client
	file   *hdfs.FileWriter
}

func (w *writer) Write(b []byte) (int, error) { return w.file.Write(b) }

// Close completes the file. Waiting for the DataNodes' reports of its last blocks is done below the library: see
// retryConn.
func (w *writer) Close() error {
	err := w.file.Close()
	if hdfs.IsErrReplicating(err) {
		err = fmt.Errorf("no DataNode reported the last blocks within %s: %w", retryTimeout, err)
	}
	return w.client.wrap("close", err)
}
