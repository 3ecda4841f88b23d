package nnthroughput

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/hadoop-bench/operator/runner/hadoop/namenode"
	"github.com/hadoop-bench/operator/runner/plan"
	"github.com/hadoop-bench/operator/runner/report"
	"github.com/hadoop-bench/operator/runner/steps"
)

const (
	permission = 0o777
	// appendClient is the lease holder of all appends, as in the original tool.
	appendClient = "TestClient"
	renameSuffix = ".r"
	// completeTimeout bounds the waiting for a file's completion, which for an empty file comes at once.
	completeTimeout = time.Minute
	// completeEager is how often in a row completion is asked for without a pause, as the original tool always does.
	completeEager = 100
	completePause = 10 * time.Millisecond
)

// fileOperation is every operation on files and directories: create, mkdirs, open, delete, append, fileStatus, rename.
type fileOperation struct {
	*step
	op   string
	tree tree
}

func newFileOperation(s *step) *fileOperation {
	o := &fileOperation{step: s, op: s.env.Plan.Identity.Step, tree: tree{perDir: int64(s.nnt.FilesPerDir)}}
	if o.op == plan.OpMkdirs {
		o.tree.perDir = int64(s.nnt.DirsPerDir)
	}
	return o
}

// takeDown has nothing to undo: files lie below the run's own directory, which cleanup removes.
func (o *fileOperation) takeDown(context.Context) error { return nil }

func (o *fileOperation) worker(i int) worker {
	w := &fileWorker{
		o: o, nn: o.thread(i), thread: o.work.first + int64(i),
		names: names{tree: o.tree}, warm: names{tree: o.tree}, capacity: plan.Capacity(o.tree.perDir),
	}
	w.client = o.op + "-client-" + strconv.FormatInt(w.thread, 10)
	w.options = o.createOptions(w.client)
	return w
}

// createOptions are the wire values of the original tool's create.
func (s *step) createOptions(client string) namenode.CreateOptions {
	return namenode.CreateOptions{
		Client: client, Overwrite: true, Replication: s.settings.replication, BlockSize: s.settings.blockSize,
		Permission: permission,
	}
}

// fileWorker is one thread of a file operation.
type fileWorker struct {
	o        *fileOperation
	nn       NameNode
	thread   int64 // global
	names    names
	warm     names // of warm-up
	capacity int64
	client   string
	options  namenode.CreateOptions

	src, dst string // of the present item
}

func (w *fileWorker) prepare(it item) error {
	if it.number >= w.capacity {
		return steps.Fail(report.ExitBenchmark, steps.ReasonPlanInvalid, "raise filesPerDir or dirsPerDir, or measure for a shorter time",
			"operation %s: all %d names are used up", w.o.op, w.capacity)
	}
	w.use(w.names.at(w.o.dir(it.owner), it.number))
	return nil
}

// use makes a path the one that the next do works on.
func (w *fileWorker) use(path string) {
	w.src = path
	if w.o.op == plan.OpRename {
		w.dst = path + renameSuffix
	}
}

func (w *fileWorker) do(ctx context.Context) error {
	switch w.o.op {
	case plan.OpCreate:
		_, err := w.nn.Create(ctx, w.src, w.options)
		return err
	case plan.OpMkdirs:
		ok, err := w.nn.Mkdirs(ctx, w.src, permission, true)
		return answered("mkdirs of ", w.src, ok, err)
	case plan.OpOpen:
		blocks, err := w.nn.GetBlockLocations(ctx, w.src, 0, uint64(w.o.settings.blockSize))
		if err == nil && blocks < 0 {
			return fileNotFound(w.src)
		}
		return err
	case plan.OpDelete:
		ok, err := w.nn.Delete(ctx, w.src, false)
		return answered("delete of ", w.src, ok, err)
	case plan.OpAppend:
		return w.nn.Append(ctx, w.src, appendClient, w.o.nnt.AppendNewBlk)
	case plan.OpFileStatus:
		_, found, err := w.nn.GetFileInfo(ctx, w.src)
		if err == nil && !found {
			return fileNotFound(w.src)
		}
		return err
	default: // rename
		ok, err := w.nn.Rename(ctx, w.src, w.dst)
		return answered("rename of ", w.src, ok, err)
	}
}

// answered turns the answer false into a failure.
func answered(call, path string, ok bool, err error) error {
	if err == nil && !ok {
		return returnedFalse(call + path)
	}
	return err
}

func (w *fileWorker) after(ctx context.Context) error {
	if w.o.op == plan.OpCreate && w.o.nnt.Close {
		return w.o.complete(ctx, w.nn, w.src, w.client)
	}
	return nil
}

// complete ends the writing of an empty file.
func (s *step) complete(ctx context.Context, nn NameNode, path, client string) error {
	began := s.env.Clock.Now()
	for try := 1; ; try++ {
		done, err := nn.Complete(ctx, path, client, nil, 0)
		if done || err != nil {
			return err
		}
		if s.env.Clock.Now().Sub(began) > completeTimeout {
			return returnedFalse(fmt.Sprintf("complete of %s for %s", path, completeTimeout))
		}
		if try >= completeEager {
			if err := s.env.Clock.Wait(ctx, completePause); err != nil {
				return err
			}
		}
	}
}
