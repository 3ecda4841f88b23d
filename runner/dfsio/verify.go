package dfsio

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/hadoop-bench/operator/runner/plan"
	"github.com/hadoop-bench/operator/runner/report"
	"github.com/hadoop-bench/operator/runner/steps"
)

// verifyBuffer is how much is read and compared at a time, in bytes.
const verifyBuffer = 1 << 20

// verify reads files whole and compares every byte with what was to be written. Shard i of n checks files i, i+n, ...
func (s *step) verify(ctx context.Context) error {
	n := (s.dfsio.NrFiles - s.env.Index + s.env.Plan.Shards - 1) / s.env.Plan.Shards
	s.planned(int64(n) * s.dfsio.Size)
	if err := s.env.Gate.Ready(); err != nil {
		return err
	}
	s.body.Start = s.env.Clock.Now().UnixMicro()
	buf := make([]byte, verifyBuffer)
	var err error
	for i := s.env.Index; i < s.dfsio.NrFiles && err == nil; i += s.env.Plan.Shards {
		err = s.verifyFile(ctx, i, buf)
	}
	s.body.Bytes = s.done.Load()
	s.body.End = max(s.body.Start, s.env.Clock.Now().UnixMicro())
	return err
}

func (s *step) verifyFile(ctx context.Context, index int32, buf []byte) error {
	path := s.layout.file(index)
	info, err := s.fs.Stat(path)
	if err != nil {
		return s.missing(path, err)
	}
	// Data of another run may be longer than what this one reads.
	if size := s.dfsio.Size; info.Size < size || info.Size > size && s.has(plan.TestWrite) {
		return mismatch("%s has %d bytes, not %d", path, info.Size, size)
	}
	file, err := s.fs.Open(path)
	if err != nil {
		return s.missing(path, err)
	}
	defer file.Close()
	generator := s.generator(index)
	for offset := int64(0); offset < s.dfsio.Size; {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		part := buf[:min(int64(len(buf)), s.dfsio.Size-offset)]
		n, err := file.Read(part)
		if at := generator.Check(part[:n], offset); at >= 0 {
			return mismatch("%s: byte at offset %d is 0x%02x, not what was written", path, offset+int64(at), part[at])
		}
		offset += int64(n)
		s.done.Add(int64(n))
		s.body.Operations++
		if errors.Is(err, io.EOF) && offset < s.dfsio.Size {
			return mismatch("%s ended after %d of %d bytes", path, offset, s.dfsio.Size)
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return s.refused(fmt.Sprintf("read %s at offset %d", path, offset), err)
		}
	}
	return nil
}

func mismatch(format string, args ...any) *steps.Error {
	return steps.Fail(report.ExitBenchmark, steps.ReasonDataMismatch,
		"the file system returned other data than was written: check it (hdfs fsck), or whether somebody else wrote to spec.baseDir", format, args...)
}
