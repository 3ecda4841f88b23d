package step

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hadoop-bench/operator/runner/hbase"
	"github.com/hadoop-bench/operator/runner/hbase/rpc"
	"github.com/hadoop-bench/operator/runner/measure"
	"github.com/hadoop-bench/operator/runner/plan"
	"github.com/hadoop-bench/operator/runner/report"
	"github.com/hadoop-bench/operator/runner/steps"
	"github.com/hadoop-bench/operator/runner/ycsb"
)

const (
	// defaultSeries is δ0 if the plan names none.
	defaultSeries = time.Second
	progressEvery = 10 * time.Second
)

// measurement is a load or a workload under way.
type measurement struct {
	*step
	run     *ycsb.Run
	began   time.Time      // set-up
	entered time.Time      // the gate was passed
	before  hbase.Counters // at that time
	usage   measure.Usage  // when the measurement began
	usable  bool           // usage could be read
}

// measured prepares the load or a workload, waits at the gate, measures, and fills the report's body whatever happens.
func (s *step) measured(ctx context.Context) error {
	s.body.Planned = s.share.planned()
	m := &measurement{step: s, began: s.env.Clock.Now()}
	db, err := m.prepare(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	workload, err := ycsb.NewWorkload(s.config)
	if err != nil {
		return steps.PlanError(fmt.Errorf("plan: %w", err))
	}
	m.plan(workload, db)
	result, failure := m.run.Do(ctx)
	switch {
	case result == nil && errors.Is(failure, ycsb.ErrNotOpen):
		return s.refused("open the sessions of all threads", failure)
	case result == nil:
		return failure // the gate's, or the order to stop
	}
	m.tellUse()
	s.fill(result, m.entered)
	s.tellRetries(m.before)
	if result.Cause == nil {
		s.gatherAfter(ctx)
	}
	s.log().Info("Measured", "startOrder", result.Origin.UTC(), "operations", result.Operations, "failed", result.Failed, "unfinished", result.Unfinished)
	return s.verdict(result, failure)
}

// prepare connects to the servers of the table, and reads the clock of one of them.
func (m *measurement) prepare(ctx context.Context) (ycsb.DB, error) {
	db, err := m.target.Open(ctx)
	if err != nil {
		return nil, m.refused("use table "+m.y.Table, err)
	}
	if err := m.note(ctx); err != nil {
		return nil, err
	}
	m.body.Clock, err = m.clock(ctx)
	switch {
	case rpc.Is(err, "AccessDeniedException"):
		m.log().Warn("The offset to the server's clock is not known, since the user may not write", "error", err)
	case err != nil:
		return nil, m.refused(fmt.Sprintf("write row %s of table %s", m.clockRow(), m.y.Table), err)
	case m.body.Clock == nil:
		m.log().Warn("The offset to the server's clock is not known: it is behind what it was")
	}
	return db, nil
}

// note has shard 0 note the state of the records in the table: as a load begins, and as the first workload does. Where the
// run waits for compactions, that has been noted by then.
func (m *measurement) note(ctx context.Context) error {
	at, now := m.y.Steps, m.env.Plan.Identity
	switch {
	case m.env.Index != 0:
		return nil
	case now.Step == plan.StepLoad:
		return m.mark(ctx, state{})
	case len(at) > 1 && at[0] == plan.StepLoad && at[1] == now.Step && now.Repeat == 1:
		return m.mark(ctx, m.loadedState())
	}
	return nil
}

// plan is the run that the plan wants.
func (m *measurement) plan(workload *ycsb.Workload, db ycsb.DB) {
	y, own := m.y, m.share
	m.run = &ycsb.Run{
		Workload: workload, DB: db, Clock: m.env.Clock, Log: m.log(), Threads: own.threads, Operations: own.planned(),
		MaxTime: time.Duration(y.DurationMillis) * time.Millisecond,
		Warmup:  ycsb.Warmup{Duration: time.Duration(y.WarmupMillis) * time.Millisecond},
		Gate:    m.gate, Delta0: m.delta0(), OnError: m.tellError, OnStatus: m.tellStatus, StatusInterval: progressEvery,
	}
	if m.body.Clock != nil {
		m.run.Offset = time.Duration(m.body.Clock.OffsetMicros) * time.Microsecond
	}
	if y.RateMilli > 0 {
		m.run.Rate = &measure.Rate{Milli: y.RateMilli, Part: int64(own.threads), Whole: int64(y.Threads)}
	}
}

func (s *step) delta0() time.Duration {
	if s.env.Plan.SeriesMicros == 0 {
		return defaultSeries
	}
	return time.Duration(s.env.Plan.SeriesMicros) * time.Microsecond
}

// gate tells that all is prepared, and waits for the start.
func (m *measurement) gate(ctx context.Context) (time.Time, error) {
	now := m.env.Clock.Now()
	m.body.SetUp, m.body.Prepared = now.Sub(m.began).Microseconds(), now.UnixMicro()
	if err := m.env.Gate.Ready(); err != nil {
		return time.Time{}, err
	}
	m.log().Info("Prepared, waiting for the start")
	start, err := m.env.Gate.Wait(ctx)
	if err != nil {
		return time.Time{}, err
	}
	m.before = m.target.Counters()
	m.readUse()
	m.entered = m.env.Clock.Now()
	return start, nil
}

func (m *measurement) readUse() {
	var err error
	if m.usage, err = m.env.Self.Read(); err != nil {
		m.log().Warn("The client's own use is not known", "error", err)
	}
	m.usable = err == nil
}

// tellUse reports what the client itself used since the measurement began.
func (m *measurement) tellUse() {
	after, err := m.env.Self.Read()
	if err != nil {
		m.log().Warn("The client's own use is not known", "error", err)
	} else if m.usable {
		m.body.Client = m.env.Self.Between(m.usage, after)
	}
}

// tellStatus logs how far the measurement is. The first status comes when it begins, after the warm-up.
func (m *measurement) tellStatus(status report.YCSBStatus) {
	if status.Interval == 0 {
		if m.y.WarmupMillis > 0 {
			m.readUse()
		}
		return
	}
	rate := float64(status.Operations-status.Previous) / status.Interval.Seconds()
	attrs := []any{"done", status.Operations, "operationsPerSecond", int64(rate + 0.5)}
	if planned := m.share.planned(); planned > 0 {
		attrs = append(attrs, "planned", planned)
	}
	m.log().Info("Progress", attrs...)
}

func (m *measurement) tellError(metric ycsb.Metric, class, text string) {
	m.log().Warn("Operations fail", "metric", metric.String(), "class", class, "first", text)
}
