package dfsio

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"time"

	"github.com/hadoop-bench/operator/runner/measure"
	"github.com/hadoop-bench/operator/runner/report"
	"github.com/hadoop-bench/operator/runner/steps"
)

// clockSamples is how often the target's clock is read; the quickest reading counts.
const clockSamples = 5

// write measures the writing of the shard's file.
func (s *step) write(ctx context.Context) error {
	path := s.layout.file(s.env.Index)
	s.planned(s.dfsio.Size)
	if err := s.requireOwn("write"); err != nil {
		return err
	}
	if err := s.askDefaults(); err != nil {
		return err
	}
	if err := s.fs.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return s.refused("remove the old "+path, err)
	}
	if err := s.readClock(ctx); err != nil {
		return s.refused("read the NameNode's clock with a file in "+s.layout.base, err)
	}
	file, err := s.fs.Create(path, s.replication(), s.blockSize())
	if err != nil {
		return s.refused("create "+path, err)
	}
	generator := s.generator(s.env.Index)
	buf := make([]byte, min(s.dfsio.BufferSize, s.dfsio.Size))
	generator.Fill(buf, 0) // has the kernel give the pages now, not in the timed loop
	return s.measured(ctx, path, file, func(r *measure.Recorder) error {
		return s.writeAll(ctx, r, file, generator, buf)
	})
}

// writeAll is the timed loop of write. The content is made between the calls: that takes a small part of the stream's
// time and none of a call's.
func (s *step) writeAll(ctx context.Context, r *measure.Recorder, file io.Writer, generator Generator, buf []byte) error {
	for offset := int64(0); offset < s.dfsio.Size; {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		part := buf[:min(int64(len(buf)), s.dfsio.Size-offset)]
		generator.Fill(part, offset)
		began := s.env.Clock.Now()
		n, err := file.Write(part)
		ended := s.env.Clock.Now()
		if err == nil && n < len(part) {
			err = io.ErrShortWrite
		}
		if err != nil {
			return fmt.Errorf("write at offset %d: %w", offset, err)
		}
		r.Operation(began, ended, int64(n))
		s.done.Add(int64(n))
		offset += int64(n)
	}
	return nil
}

// read measures the reading of the shard's file.
func (s *step) read(ctx context.Context) error {
	path := s.layout.file(s.env.Index)
	s.planned(s.dfsio.Size)
	if err := s.readClock(ctx); err != nil {
		if !errors.Is(err, fs.ErrPermission) && !inSafeMode(err) {
			return s.refused("read the NameNode's clock with a file in "+s.layout.base, err)
		}
		// Reading data that others wrote needs no right to write. The report says so by having no clock.
		s.env.Log.Warn("The clock's offset is not known", "error", err)
	}
	file, err := s.fs.Open(path)
	if err != nil {
		return s.missing(path, err)
	}
	buf := make([]byte, min(s.dfsio.BufferSize, s.dfsio.Size))
	s.generator(s.env.Index).Fill(buf, 0) // as in write
	return s.measured(ctx, path, file, func(r *measure.Recorder) error {
		return s.readAll(ctx, r, path, file, buf)
	})
}

// readAll is the timed loop of read. The last call asks for no more than what is missing.
func (s *step) readAll(ctx context.Context, r *measure.Recorder, path string, file io.Reader, buf []byte) error {
	size := s.dfsio.Size
	for total := int64(0); total < size; {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		part := buf[:min(int64(len(buf)), size-total)]
		began := s.env.Clock.Now()
		n, err := file.Read(part)
		ended := s.env.Clock.Now()
		if n > 0 {
			r.Operation(began, ended, int64(n))
			s.done.Add(int64(n))
			total += int64(n)
		}
		if errors.Is(err, io.EOF) && total < size {
			return steps.Fail(report.ExitBenchmark, steps.ReasonFileTooShort, "write the data anew with the same size, or read no more than there is",
				"%s ended after %d of %d bytes", path, total, size)
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return fmt.Errorf("read at offset %d: %w", total, err)
		}
	}
	return nil
}

// missing turns the failure to open a data file into a failure of the step.
func (s *step) missing(path string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return steps.Fail(report.ExitTarget, steps.ReasonDataMissing, "put write before it in spec.tests, or set spec.baseDir to where a run left its data",
			"%s does not exist", path)
	}
	return s.refused("open "+path, err)
}

func (s *step) planned(bytes int64) {
	s.body.Planned = bytes
	s.total.Store(bytes)
}

// measured waits at the gate, runs the loop and closes the stream, and fills the report's body whatever happens. The
// stream was opened before, as upstream does it; loop and close are timed.
func (s *step) measured(ctx context.Context, path string, stream io.Closer, loop func(*measure.Recorder) error) error {
	clock := s.env.Clock
	s.body.Prepared = clock.Now().UnixMicro()
	origin, err := s.gate(ctx)
	if err != nil {
		_ = stream.Close() // nothing is in it
		return err
	}
	r := s.recorder(origin)
	before, beforeErr := s.env.Self.Read()
	start := clock.Now()
	err = loop(r)
	closing := clock.Now()
	closed := err == nil || ctx.Err() != nil
	if closed {
		// After an error of the stream there is nothing to close properly; the lease ends with the connection. A stopped
		// shard's file is closed as far as it came.
		if closeErr := stream.Close(); err == nil {
			err = closeErr
		}
	}
	end := clock.Now()
	if !closed {
		closing = end
	}
	after, afterErr := s.env.Self.Read()
	if err := errors.Join(beforeErr, afterErr); err != nil {
		s.env.Log.Warn("The client's own use is not known", "error", err)
	} else {
		s.body.Client = s.env.Self.Between(before, after)
	}
	s.body.Start, s.body.End = r.Micros(start), r.Micros(end)
	s.body.CloseMicros = s.body.End - r.Micros(closing)
	err = s.ioFailure(ctx, r, path, err)
	r.Fill(s.body)
	s.env.Log.Info("Measured", "startOrder", origin.UTC(), "lateMicros", start.Sub(origin).Microseconds())
	return err
}

// recorder makes the recorder of an attempt that starts at origin.
func (s *step) recorder(origin time.Time) *measure.Recorder {
	delta := time.Duration(s.env.Plan.SeriesMicros) * time.Microsecond
	if delta == 0 {
		delta = defaultSeries
	}
	var offset time.Duration
	if s.body.Clock != nil {
		offset = time.Duration(s.body.Clock.OffsetMicros) * time.Microsecond
	}
	return measure.NewRecorder(origin, delta, offset)
}

func (s *step) gate(ctx context.Context) (time.Time, error) {
	if err := s.env.Gate.Ready(); err != nil {
		return time.Time{}, err
	}
	s.env.Log.Info("Prepared, waiting for the start")
	origin, err := s.env.Gate.Wait(ctx)
	if err != nil {
		return time.Time{}, fmt.Errorf("wait for the start: %w", err)
	}
	return origin, nil
}

// ioFailure counts an error of the timed part and turns it into a failure.
func (s *step) ioFailure(ctx context.Context, r *measure.Recorder, path string, err error) error {
	if err == nil {
		return nil
	}
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	r.Error(Class(err), Text(err))
	if own := new(steps.Error); errors.As(err, &own) {
		return own
	}
	return &steps.Error{Exit: report.ExitBenchmark, Cause: err, Failure: report.Failure{
		Reason:  steps.ReasonIOError,
		Message: fmt.Sprintf("%s: %s", path, Text(err)),
		Remedy:  remedyIOError,
	}}
}

// readClock measures the offset of the NameNode's clock: the modification time of a file is the moment between call and
// answer at which it was created.
func (s *step) readClock(ctx context.Context) error {
	if err := s.askDefaults(); err != nil {
		return err
	}
	path := s.layout.temp(fmt.Sprintf("clock-%s-%d", s.env.Plan.Identity.Step, s.env.Index))
	if err := s.fs.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	samples := make([]measure.ClockSample, 0, clockSamples)
	for range clockSamples {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		sample, err := s.clockSample(path)
		if err != nil {
			return err
		}
		samples = append(samples, sample)
	}
	s.body.Clock = measure.Offset(samples, time.Millisecond)
	return nil
}

// clockSample makes and removes one file. It asks for the time before the file is closed, which sets it anew.
func (s *step) clockSample(path string) (measure.ClockSample, error) {
	before := s.env.Clock.Now()
	file, err := s.fs.Create(path, s.replication(), s.blockSize())
	if err != nil {
		return measure.ClockSample{}, err
	}
	after := s.env.Clock.Now()
	info, err := s.fs.Stat(path)
	err = errors.Join(err, file.Close(), s.fs.Remove(path))
	return measure.ClockSample{Before: before, After: after, Target: info.ModTime}, err
}
