package cli_test

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hadoop-bench/operator/runner/hadoop/namenode"
	"github.com/hadoop-bench/operator/runner/nnthroughput"
)

// nameNode is a namespace in memory with the calls that files need.
type nameNode struct {
	nnthroughput.NameNode // nil: nothing else may be asked

	mu       sync.Mutex
	dirs     map[string]bool
	files    map[string]bool
	calls    []string // but those of the clock
	fail     func(call, path string) error
	safeMode bool
	closed   int
	asked    nnthroughput.Env // by whom it was connected to last
}

func newNameNode(paths ...string) *nameNode {
	n := &nameNode{dirs: map[string]bool{"/": true}, files: map[string]bool{}, safeMode: true}
	for _, p := range paths {
		n.makeDirs(path.Dir(p))
		if strings.HasSuffix(p, "/") {
			n.makeDirs(path.Clean(p))
		} else {
			n.files[p] = true
		}
	}
	return n
}

func (n *nameNode) connect(_ context.Context, env *nnthroughput.Env, _ int) (nnthroughput.Target, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.asked = *env
	return n, nil
}

func (n *nameNode) Thread(int) nnthroughput.NameNode           { return n }
func (n *nameNode) DataNodeSides() []nnthroughput.DataNodeSide { return nil }
func (n *nameNode) Close() error                               { n.mu.Lock(); defer n.mu.Unlock(); n.closed++; return nil }

// begin notes a call, which holds the lock until the function that it returns is called.
func (n *nameNode) begin(call, p string) (func(), error) {
	n.mu.Lock()
	if !strings.Contains(p, "_hadoopbench-") {
		n.calls = append(n.calls, call+" "+p)
		if n.fail != nil {
			if err := n.fail(call, p); err != nil {
				n.mu.Unlock()
				return func() {}, err
			}
		}
	}
	return n.mu.Unlock, nil
}

func (n *nameNode) makeDirs(dir string) {
	for ; dir != "/"; dir = path.Dir(dir) {
		n.dirs[dir] = true
	}
}

// paths are all names, directories with a slash at the end.
func (n *nameNode) paths() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	var all []string
	for p := range n.files {
		all = append(all, p)
	}
	for p := range n.dirs {
		all = append(all, strings.TrimSuffix(p, "/")+"/")
	}
	slices.Sort(all)
	return all
}

func (n *nameNode) count(call string) int {
	n.mu.Lock()
	defer n.mu.Unlock()
	count := 0
	for _, c := range n.calls {
		if strings.HasPrefix(c, call+" ") {
			count++
		}
	}
	return count
}

func (n *nameNode) Create(_ context.Context, p string, _ namenode.CreateOptions) (namenode.FileStatus, error) {
	end, err := n.begin("create", p)
	defer end()
	if err != nil {
		return namenode.FileStatus{}, err
	}
	n.makeDirs(path.Dir(p))
	n.files[p] = true
	return namenode.FileStatus{ModTime: time.Now().Truncate(time.Millisecond)}, nil
}

func (n *nameNode) Complete(_ context.Context, p, _ string, _ *namenode.Block, _ uint64) (bool, error) {
	end, err := n.begin("complete", p)
	defer end()
	return true, err
}

func (n *nameNode) Mkdirs(_ context.Context, p string, _ uint32, _ bool) (bool, error) {
	end, err := n.begin("mkdirs", p)
	defer end()
	n.makeDirs(p)
	return true, err
}

func (n *nameNode) GetBlockLocations(_ context.Context, p string, _, _ uint64) (int, error) {
	end, err := n.begin("getBlockLocations", p)
	defer end()
	if err == nil && !n.files[p] {
		return -1, nil
	}
	return 0, err
}

func (n *nameNode) Delete(_ context.Context, p string, recursive bool) (bool, error) {
	end, err := n.begin("delete", p)
	defer end()
	if err != nil {
		return false, err
	}
	found := n.files[p] || n.dirs[p]
	delete(n.files, p)
	delete(n.dirs, p)
	for _, names := range []map[string]bool{n.files, n.dirs} {
		for name := range names {
			if strings.HasPrefix(name, p+"/") {
				if !recursive {
					return false, errors.New("not empty")
				}
				delete(names, name)
			}
		}
	}
	return found, nil
}

func (n *nameNode) Append(_ context.Context, p, _ string, _ bool) error {
	end, err := n.begin("append", p)
	defer end()
	return err
}

func (n *nameNode) Rename(_ context.Context, from, to string) (bool, error) {
	end, err := n.begin("rename", from)
	defer end()
	if err != nil || !n.files[from] && !n.dirs[from] || n.files[to] || n.dirs[to] {
		return false, err
	}
	for _, names := range []map[string]bool{n.files, n.dirs} {
		for name := range names {
			if rest, ok := strings.CutPrefix(name, from); ok && (rest == "" || rest[0] == '/') {
				delete(names, name)
				names[to+rest] = true
			}
		}
	}
	return true, nil
}

func (n *nameNode) GetFileInfo(_ context.Context, p string) (namenode.FileStatus, bool, error) {
	end, err := n.begin("getFileInfo", p)
	defer end()
	return namenode.FileStatus{Dir: n.dirs[p]}, n.files[p] || n.dirs[p], err
}

func (n *nameNode) List(_ context.Context, dir string) ([]namenode.Entry, bool, error) {
	end, err := n.begin("list", dir)
	defer end()
	var entries []namenode.Entry
	for _, names := range []map[string]bool{n.files, n.dirs} {
		for name := range names {
			if name != dir && path.Dir(name) == dir {
				entries = append(entries, namenode.Entry{Path: path.Base(name), Dir: n.dirs[name]})
			}
		}
	}
	return entries, n.dirs[dir], err
}

func (n *nameNode) SetSafeMode(_ context.Context, action namenode.SafeModeAction, _ bool) (bool, error) {
	end, err := n.begin("setSafeMode", fmt.Sprint(action))
	defer end()
	n.safeMode = action == namenode.SafeModeEnter
	return n.safeMode, err
}

func (n *nameNode) RefreshUserToGroupsMappings(context.Context) error {
	end, err := n.begin("refresh", "")
	defer end()
	return err
}
