package step

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"slices"
	"strconv"
	"time"

	"github.com/hadoop-bench/operator/runner/hbase/admin"
	"github.com/hadoop-bench/operator/runner/plan"
	"github.com/hadoop-bench/operator/runner/report"
	"github.com/hadoop-bench/operator/runner/steps"
)

const (
	lookEvery  = 2 * time.Second
	lookLogged = 10 * time.Second
	// defaultDeadline bounds the wait, and defaultSlice a slice, where the plan does not.
	defaultDeadline = 2 * time.Hour
	defaultSlice    = time.Minute
)

// Facts by which one slice of the step tells the next how far it came. Times are microseconds since the epoch.
const (
	factBegan = "began"     // the first slice
	factAsked = "asked"     // flush and major compaction
	factRest  = "restSince" // the table is at rest; absent if it is not
	factFiles = "restFiles" // which store files it then had, as a hash
	factBlind = "restBlind" // why queues could not be read at some time of the rest
)

// A wait is how far the wait for compactions came, over all slices.
type wait struct {
	began time.Time
	asked bool      // flush, and major compaction if one is wanted
	since time.Time // of the rest; zero: there is none
	files uint64
	blind string
}

// waitOf reads what an earlier slice told.
func waitOf(earlier map[string]string, now time.Time) wait {
	micros := func(name string) time.Time {
		n, err := strconv.ParseInt(earlier[name], 10, 64)
		if err != nil {
			return time.Time{}
		}
		return time.UnixMicro(n)
	}
	w := wait{began: micros(factBegan), asked: earlier[factAsked] == "true", since: micros(factRest), blind: earlier[factBlind]}
	w.files, _ = strconv.ParseUint(earlier[factFiles], 16, 64)
	if w.began.IsZero() || w.began.After(now) {
		w.began = now
	}
	return w
}

// facts are what the next slice needs to know.
func (w *wait) facts() map[string]string {
	facts := map[string]string{factBegan: strconv.FormatInt(w.began.UnixMicro(), 10), factAsked: strconv.FormatBool(w.asked)}
	if !w.since.IsZero() {
		facts[factRest] = strconv.FormatInt(w.since.UnixMicro(), 10)
		facts[factFiles] = strconv.FormatUint(w.files, 16)
	}
	if w.blind != "" {
		facts[factBlind] = w.blind
	}
	return facts
}

// add takes a look and returns for how long the table has been at rest, that of earlier slices included, and why it is not.
// Store files that another slice saw count as the same if they are as many in each region.
func (w *wait) add(at time.Time, look admin.Look) (rest time.Duration, why string) {
	_, why = new(admin.Settling).Add(at, look)
	files := filesOf(look)
	if why == "" && !w.since.IsZero() && files != w.files {
		why = "the store files changed"
	}
	if why != "" {
		w.since, w.files, w.blind = time.Time{}, 0, ""
		return 0, why
	}
	if w.since.IsZero() {
		w.since, w.files, w.blind = at, files, ""
	}
	if look.QueuesError != nil && w.blind == "" {
		w.blind = report.Shorten(look.QueuesError.Error(), maxList/2)
	}
	return max(0, at.Sub(w.since)), ""
}

// filesOf is a hash of how many store files each region has.
func filesOf(look admin.Look) uint64 {
	regions := slices.Clone(look.Regions)
	slices.SortFunc(regions, func(a, b admin.RegionCompaction) int { return cmp.Compare(a.Region, b.Region) })
	h := fnv.New64a()
	for _, r := range regions {
		fmt.Fprintf(h, "%s %d\n", r.Region, r.StoreFiles)
	}
	return h.Sum64()
}

// compact flushes the table, has it compacted wholly where that is wanted, and waits until its compactions are over: one
// slice of that, after which FactUnfinished says what is still waited for.
func (s *step) compact(ctx context.Context) error {
	began := s.env.Clock.Now()
	w := waitOf(s.plan.Earlier, began)
	deadline := w.began.Add(cmp.Or(time.Duration(s.y.DeadlineMillis)*time.Millisecond, defaultDeadline))
	if !w.asked {
		if err := s.askForCompaction(ctx, deadline); err != nil {
			return err
		}
		w.asked = true
	}
	end := began.Add(cmp.Or(time.Duration(s.y.SliceMillis)*time.Millisecond, defaultSlice))
	look, why, err := s.settle(ctx, &w, end, deadline)
	for name, value := range w.facts() {
		s.fact(name, value)
	}
	if err != nil {
		return err
	}
	s.tellLook(&w, look)
	if why != "" {
		s.fact(plan.FactUnfinished, why)
	}
	return nil
}

// askForCompaction flushes the table, which is loaded now, and asks for a major compaction where one is wanted. If this is
// cut off, the next slice does it again.
func (s *step) askForCompaction(parent context.Context, deadline time.Time) error {
	ctx, cancel := context.WithTimeoutCause(parent, max(time.Second, deadline.Sub(s.env.Clock.Now())), s.notSettled("the flush is not over"))
	defer cancel()
	err := s.mark(ctx, s.loadedState())
	if err == nil {
		s.log().Info("Flush begins", "table", s.y.Table)
		if err = s.target.Flush(ctx); err != nil {
			err = s.refused("flush table "+s.y.Table, err)
		}
	}
	if err == nil && s.y.MajorCompact {
		s.log().Info("Major compaction is asked for", "table", s.y.Table)
		if err = s.target.MajorCompact(ctx); err != nil {
			err = s.refused("have table "+s.y.Table+" compacted", err)
		}
	}
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

func (s *step) notSettled(why string) error {
	return steps.Fail(report.ExitDeadline, steps.ReasonCompactionDeadline,
		"raise spec.load.compactionDeadline, stop what else writes to the table, or look at the RegionServers' compaction queues and their limit of throughput",
		"compactions of table %s are not over in the time for them: %s", s.y.Table, why)
}

// settle looks at the table until it has been at rest for long enough, or the slice is over: then why says what is waited
// for. The error is of the deadline, or of HBase.
func (s *step) settle(ctx context.Context, w *wait, end, deadline time.Time) (look admin.Look, why string, err error) {
	settle := time.Duration(s.y.SettleMillis) * time.Millisecond
	if settle < admin.QueuesDelay && len(s.y.HTTP) > 0 {
		s.log().Warn("The settle time is shorter than queue lengths may be late", "settle", settle, "late", admin.QueuesDelay)
	}
	web := s.regionServerAddresses(ctx)
	var logged time.Time
	for {
		if look, err = s.look(ctx, web); err != nil {
			return look, "", s.refused("look at the compactions of table "+s.y.Table, err)
		}
		now := s.env.Clock.Now()
		rest, unrest := w.add(now, look)
		if unrest == "" && rest >= settle {
			return look, "", nil
		}
		why = waitingFor(look, unrest, rest, settle)
		if now.Sub(logged) >= lookLogged {
			s.log().Info("Waiting for compactions", "for", why, "waited", now.Sub(w.began).Round(time.Second))
			logged = now
		}
		if !now.Before(deadline) {
			return look, "", s.notSettled(why)
		}
		if !now.Before(end) {
			return look, why, nil
		}
		next := min(lookEvery, end.Sub(now), deadline.Sub(now))
		if unrest == "" {
			next = min(next, settle-rest)
		}
		if err := s.env.Clock.Wait(ctx, next); err != nil {
			return look, "", err
		}
	}
}

// look looks once. Where no web addresses are given, queues are not read; where some RegionServer's is missing, they are
// not known.
func (s *step) look(ctx context.Context, web []string) (admin.Look, error) {
	look, err := s.target.Look(ctx, web)
	if err != nil || look.QueuesError != nil {
		return look, err
	}
	if len(s.y.HTTP) == 0 {
		look.QueuesError = errNotAsked
		return look, nil
	}
	servers := map[string]bool{}
	for _, r := range look.Regions {
		servers[r.Server] = true
	}
	if len(web) < len(servers) {
		look.QueuesError = fmt.Errorf("spec.target.http names %d RegionServers, and the table is on %d", len(web), len(servers))
	}
	return look, nil
}

var errNotAsked = errors.New("spec.target.http names no RegionServers: queued compactions are not seen")

// waitingFor says in a few words what is still waited for.
func waitingFor(look admin.Look, unrest string, rest, settle time.Duration) string {
	compacting, files := 0, int64(0)
	for _, r := range look.Regions {
		files += r.StoreFiles
		if r.Unknown != "" || r.State != admin.CompactionNone {
			compacting++
		}
	}
	switch {
	case compacting > 0:
		return fmt.Sprintf("%d of %d regions still compacting, %d store files (%s)", compacting, len(look.Regions), files, unrest)
	case unrest != "":
		return fmt.Sprintf("%s; %d regions, %d store files", unrest, len(look.Regions), files)
	}
	return fmt.Sprintf("%d regions with %d store files at rest for %s of %s", len(look.Regions), files, rest.Round(time.Second), settle)
}

// tellLook puts into the facts what was seen last.
func (s *step) tellLook(w *wait, look admin.Look) {
	files, size := int64(0), int64(0)
	for _, r := range look.Regions {
		files, size = files+r.StoreFiles, size+r.SizeMB
	}
	s.fact("waited", s.env.Clock.Now().Sub(w.began).Round(time.Second).String())
	s.fact("regions", strconv.Itoa(len(look.Regions)))
	s.fact("storeFiles", strconv.FormatInt(files, 10))
	s.fact("storeFileMiB", strconv.FormatInt(size, 10))
	s.fact("majorCompact", strconv.FormatBool(s.y.MajorCompact))
	queues := "empty"
	if w.blind != "" {
		queues = "unknown: " + w.blind
	}
	s.fact("queues", queues)
}
