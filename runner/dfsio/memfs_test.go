package dfsio_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/hadoop-bench/operator/runner/dfsio"
)

// epoch is when step clocks start.
var epoch = time.Date(2026, 12, 1, 10, 0, 0, 0, time.UTC)

// stepClock moves on by a millisecond each time it is read, so that every figure of a step is known exactly. Whoever
// waits for long waits for the end of the context.
type stepClock struct {
	mu  sync.Mutex
	now time.Time
}

func newStepClock() *stepClock { return &stepClock{now: epoch} }

func (c *stepClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(time.Millisecond)
	return c.now
}

func (c *stepClock) peek() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *stepClock) Wait(ctx context.Context, d time.Duration) error {
	if d >= 5*time.Second {
		<-ctx.Done()
		return context.Cause(ctx)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(max(d, 0))
	return context.Cause(ctx)
}

// memFS is a file system in memory for the steps' own logic. What HDFS really does is tested against HDFS.
type memFS struct {
	clock *stepClock
	ahead time.Duration // of the file system's clock

	entries  map[string]*memEntry
	space    dfsio.Space
	defaults dfsio.Defaults
	// fail is asked before each call with "<method> <path>"; an error it returns is the call's.
	fail   func(call string) error
	closed int
	calls  []string
}

type memEntry struct {
	dir     bool
	data    []byte
	mtime   time.Time
	open    bool
	special dfsio.FileInfo // Encrypted and ErasureCoded
}

func newMemFS(clock *stepClock, paths ...string) *memFS {
	m := &memFS{
		clock:    clock,
		entries:  map[string]*memEntry{"/": {dir: true}},
		space:    dfsio.Space{Capacity: 1 << 40, Remaining: 1 << 39},
		defaults: dfsio.Defaults{BlockSize: 128 << 20, Replication: 3, BytesPerChecksum: 512},
	}
	for _, p := range paths {
		m.put(p, nil)
	}
	return m
}

// put makes a file, or a directory if the path ends in a slash, with all that is above it.
func (m *memFS) put(p string, data []byte) *memEntry {
	dir := strings.HasSuffix(p, "/")
	p = path.Clean(p)
	for up := path.Dir(p); m.entries[up] == nil; up = path.Dir(up) {
		m.entries[up] = &memEntry{dir: true}
	}
	m.entries[p] = &memEntry{dir: dir, data: data}
	return m.entries[p]
}

// tree lists all paths, directories with a slash, and files with their sizes.
func (m *memFS) tree() []string {
	list := []string{}
	for _, p := range slices.Sorted(maps.Keys(m.entries)) {
		switch e := m.entries[p]; {
		case p == "/":
		case e.dir:
			list = append(list, p+"/")
		case e.open:
			list = append(list, fmt.Sprintf("%s %d open", p, len(e.data)))
		default:
			list = append(list, fmt.Sprintf("%s %d", p, len(e.data)))
		}
	}
	return list
}

func (m *memFS) called(method, p string) error {
	call := method + " " + p
	m.calls = append(m.calls, call)
	if m.fail == nil {
		return nil
	}
	return m.fail(call)
}

func pathError(op, p string, err error) error { return &fs.PathError{Op: op, Path: p, Err: err} }

func (m *memFS) Stat(p string) (dfsio.FileInfo, error) {
	if err := m.called("stat", p); err != nil {
		return dfsio.FileInfo{}, err
	}
	e := m.entries[p]
	if e == nil {
		return dfsio.FileInfo{}, pathError("stat", p, fs.ErrNotExist)
	}
	info := e.special
	info.Name, info.Size, info.Dir, info.ModTime = path.Base(p), int64(len(e.data)), e.dir, e.mtime
	return info, nil
}

func (m *memFS) List(dir string) ([]dfsio.FileInfo, error) {
	if err := m.called("list", dir); err != nil {
		return nil, err
	}
	if m.entries[dir] == nil {
		return nil, pathError("list", dir, fs.ErrNotExist)
	}
	var list []dfsio.FileInfo
	for _, p := range slices.Sorted(maps.Keys(m.entries)) {
		if p != "/" && path.Dir(p) == dir {
			e := m.entries[p]
			list = append(list, dfsio.FileInfo{Name: path.Base(p), Size: int64(len(e.data)), Dir: e.dir})
		}
	}
	return list, nil
}

func (m *memFS) Mkdir(p string) error {
	if err := m.called("mkdir", p); err != nil {
		return err
	}
	if m.entries[p] != nil {
		return pathError("mkdir", p, fs.ErrExist)
	}
	if up := m.entries[path.Dir(p)]; up == nil || !up.dir {
		return pathError("mkdir", p, fs.ErrNotExist)
	}
	m.entries[p] = &memEntry{dir: true}
	return nil
}

func (m *memFS) Create(p string, replication int, blockSize int64) (io.WriteCloser, error) {
	if err := m.called("create", fmt.Sprintf("%s %d %d", p, replication, blockSize)); err != nil {
		return nil, err
	}
	if m.entries[p] != nil {
		return nil, pathError("create", p, fs.ErrExist)
	}
	if up := m.entries[path.Dir(p)]; up == nil || !up.dir {
		return nil, pathError("create", p, fs.ErrNotExist)
	}
	e := &memEntry{open: true, mtime: m.clock.peek().Add(m.ahead).Truncate(time.Millisecond)}
	m.entries[p] = e
	return &memWriter{fs: m, path: p, entry: e}, nil
}

func (m *memFS) Open(p string) (io.ReadCloser, error) {
	if err := m.called("open", p); err != nil {
		return nil, err
	}
	e := m.entries[p]
	if e == nil {
		return nil, pathError("open", p, fs.ErrNotExist)
	}
	if e.dir {
		return nil, pathError("open", p, syscall.EISDIR)
	}
	return &memReader{fs: m, path: p, rest: e.data}, nil
}

func (m *memFS) Remove(p string) error {
	if err := m.called("remove", p); err != nil {
		return err
	}
	if m.entries[p] == nil {
		return pathError("remove", p, fs.ErrNotExist)
	}
	for other := range m.entries {
		if other != "/" && path.Dir(other) == p {
			return pathError("remove", p, dfsio.ErrNotEmpty)
		}
	}
	delete(m.entries, p)
	return nil
}

func (m *memFS) Space() (dfsio.Space, error)       { return m.space, m.called("space", "") }
func (m *memFS) Defaults() (dfsio.Defaults, error) { return m.defaults, m.called("defaults", "") }
func (m *memFS) NameNode() string                  { return "nn:8020" }
func (m *memFS) Traffic() (int64, int64)           { return 1, 2 }

func (m *memFS) Close() error {
	m.closed++
	return m.called("disconnect", "")
}

type memWriter struct {
	fs    *memFS
	path  string
	entry *memEntry
}

func (w *memWriter) Write(b []byte) (int, error) {
	if err := w.fs.called("write", fmt.Sprintf("%s %d", w.path, len(w.entry.data))); err != nil {
		if errors.Is(err, io.ErrShortWrite) {
			w.entry.data = append(w.entry.data, b[:len(b)/2]...)
			return len(b) / 2, nil
		}
		return 0, err
	}
	w.entry.data = append(w.entry.data, b...)
	return len(b), nil
}

func (w *memWriter) Close() error {
	if err := w.fs.called("close", w.path); err != nil {
		return err
	}
	w.entry.open = false
	return nil
}

// memPacket is the most that one read returns, as a packet of HDFS bounds it.
const memPacket = 1000

type memReader struct {
	fs   *memFS
	path string
	rest []byte
}

func (r *memReader) Read(b []byte) (int, error) {
	if err := r.fs.called("read", r.path); err != nil {
		return 0, err
	}
	if len(r.rest) == 0 {
		return 0, io.EOF
	}
	n := copy(b, r.rest[:min(len(r.rest), memPacket)])
	r.rest = r.rest[n:]
	if len(r.rest) == 0 {
		return n, io.EOF // both at once, which readers may do
	}
	return n, nil
}

func (r *memReader) Close() error { return r.fs.called("close", r.path) }

// failOn makes calls that begin with a text fail.
func failOn(prefix string, err error) func(string) error {
	return func(call string) error {
		if strings.HasPrefix(call, prefix) {
			return err
		}
		return nil
	}
}

func TestStepClock(t *testing.T) {
	c := newStepClock()
	if got := c.Now(); !got.Equal(epoch.Add(time.Millisecond)) {
		t.Errorf("Now = %s, want a millisecond after the epoch", got)
	}
}
