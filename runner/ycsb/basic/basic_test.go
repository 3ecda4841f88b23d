package basic_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/hadoop-bench/operator/runner/ycsb"
	"github.com/hadoop-bench/operator/runner/ycsb/basic"
)

// waits remembers what is waited for, and waits for nothing.
type waits struct{ all []time.Duration }

func (w *waits) Now() time.Time { return time.Time{} }

func (w *waits) Wait(ctx context.Context, d time.Duration) error {
	w.all = append(w.all, d)
	return context.Cause(ctx)
}

func open(t *testing.T, clock *waits, assignments ...string) (*basic.DB, error) {
	t.Helper()
	p := ycsb.NewProperties()
	for _, a := range assignments {
		if err := p.Assign(a); err != nil {
			t.Fatal(err)
		}
	}
	return basic.Open(basic.Options{Properties: p, Clock: clock, Seed: 1})
}

// callAll calls everything that a session can do, and closes it.
func callAll(t *testing.T, ctx context.Context, db *basic.DB, want ycsb.Status) {
	t.Helper()
	s, err := db.Session(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for name, call := range map[string]func() (ycsb.Status, error){
		"read":   func() (ycsb.Status, error) { return s.Read(ctx, []byte("k"), nil, new(ycsb.Record)) },
		"scan":   func() (ycsb.Status, error) { return s.Scan(ctx, []byte("k"), 1, nil, nil) },
		"update": func() (ycsb.Status, error) { return s.Update(ctx, []byte("k"), nil) },
		"insert": func() (ycsb.Status, error) { return s.Insert(ctx, []byte("k"), nil) },
		"delete": func() (ycsb.Status, error) { return s.Delete(ctx, []byte("k")) },
	} {
		if got, err := call(); got != want || (err == nil) != (want == ycsb.OK) {
			t.Errorf("%s: %s, %v, want %s", name, got, err, want)
		}
	}
	if status, err := s.Close(ctx); status != ycsb.OK || err != nil {
		t.Errorf("close: %s, %v", status, err)
	}
}

func TestDelays(t *testing.T) {
	for name, tc := range map[string]struct {
		properties []string
		check      func(all []time.Duration) bool
	}{
		"none":  {nil, func(all []time.Duration) bool { return len(all) == 0 }},
		"fixed": {[]string{"basicdb.simulatedelay=7", "basicdb.randomizedelay=false"}, func(all []time.Duration) bool { return len(all) == 5 && all[0] == 7*time.Millisecond }},
		"at random": {[]string{"basicdb.simulatedelay=3"}, func(all []time.Duration) bool {
			for _, d := range all {
				if d < time.Millisecond || d > 2*time.Millisecond || d%time.Millisecond != 0 {
					return false
				}
			}
			return len(all) > 0
		}},
	} {
		t.Run(name, func(t *testing.T) {
			clock := new(waits)
			db, err := open(t, clock, tc.properties...)
			if err != nil {
				t.Fatal(err)
			}
			callAll(t, t.Context(), db, ycsb.OK)
			if !tc.check(clock.all) {
				t.Errorf("waited for %v", clock.all)
			}
			if err := db.Close(); err != nil || db.Facts()["database"] != "none" {
				t.Errorf("close: %v, facts %v", err, db.Facts())
			}
		})
	}
}

func TestAnswersEndWithTheContext(t *testing.T) {
	db, err := open(t, new(waits), "basicdb.simulatedelay=7", "basicdb.randomizedelay=false")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("enough"))
	callAll(t, ctx, db, ycsb.ErrorStatus)
}

func TestProperties(t *testing.T) {
	for property, want := range map[string]string{
		"basicdb.simulatedelay=-1":          `property basicdb.simulatedelay: "-1" is not a whole number of milliseconds`,
		"basicdb.simulatedelay=99999999999": `is not a whole number of milliseconds from 0 to 86400000`,
		"basicdb.randomizedelay=perhaps":    `property basicdb.randomizedelay: "perhaps" is neither true nor false`,
		"basicdb.verbose=1":                 `property basicdb.verbose`,
		"basicdb.count=1":                   `property basicdb.count`,
	} {
		if _, err := open(t, new(waits), property); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", property, err, want)
		}
	}
	db, err := open(t, new(waits), "basicdb.verbose=true", "basicdb.count=TRUE")
	if err != nil || len(db.Warnings) != 2 {
		t.Errorf("%v, warnings %q", err, db.Warnings)
	}
}
