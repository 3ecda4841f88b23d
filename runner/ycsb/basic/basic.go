// Package basic is YCSB's binding without a database: it answers at once, or after a simulated delay, and so measures what
// the benchmark itself takes.
package basic

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/hadoop-bench/operator/runner/measure"
	"github.com/hadoop-bench/operator/runner/ycsb"
	"github.com/hadoop-bench/operator/runner/ycsb/generator"
)

// Properties that the binding reads.
const (
	propertyDelay     = "basicdb.simulatedelay"
	propertyRandomize = "basicdb.randomizedelay"
	propertyVerbose   = "basicdb.verbose"
	propertyCount     = "basicdb.count"
)

// maxDelay bounds basicdb.simulatedelay.
const maxDelay = 24 * time.Hour

// Options are what the binding is opened with. All fields must be set.
type Options struct {
	Properties *ycsb.Properties
	Clock      measure.Clock
	Seed       uint64 // of random delays
}

// A DB is no database. It is a ycsb.DB.
type DB struct {
	// Warnings are sentences about properties that have no effect.
	Warnings []string

	options   Options
	delay     time.Duration // 0: none
	randomize bool          // a whole number of milliseconds below delay, instead of delay
	sessions  atomic.Uint64
}

// Open reads the properties basicdb.simulatedelay, in milliseconds, and basicdb.randomizedelay. YCSB's binding prints every
// operation unless basicdb.verbose is false; this one never does. Errors name a property.
func Open(o Options) (*DB, error) {
	db := &DB{options: o}
	millis, err := strconv.ParseInt(text(o.Properties, propertyDelay, "0"), 10, 64)
	if db.delay = time.Duration(millis) * time.Millisecond; err != nil || millis < 0 || millis > maxDelay.Milliseconds() {
		return nil, fmt.Errorf("property %s: %q is not a whole number of milliseconds from 0 to %d",
			propertyDelay, text(o.Properties, propertyDelay, ""), maxDelay.Milliseconds())
	}
	var failures [3]error
	verbose, count := false, false
	db.randomize, failures[0] = boolean(o.Properties, propertyRandomize, true)
	verbose, failures[1] = boolean(o.Properties, propertyVerbose, false)
	count, failures[2] = boolean(o.Properties, propertyCount, false)
	if err := errors.Join(failures[:]...); err != nil {
		return nil, err
	}
	if verbose {
		db.Warnings = append(db.Warnings, "property "+propertyVerbose+" has no effect: operations are not printed")
	}
	if count {
		db.Warnings = append(db.Warnings, "property "+propertyCount+" has no effect: different keys are not counted")
	}
	return db, nil
}

func text(p *ycsb.Properties, name, standard string) string {
	if value, ok := p.Get(name); ok {
		return strings.TrimSpace(value)
	}
	return standard
}

func boolean(p *ycsb.Properties, name string, standard bool) (bool, error) {
	switch value := text(p, name, strconv.FormatBool(standard)); strings.ToLower(value) {
	case "true":
		return true, nil
	case "false":
		return false, nil
	default:
		return false, fmt.Errorf("property %s: %q is neither true nor false", name, value)
	}
}

// Session returns what one thread uses.
func (db *DB) Session(ctx context.Context) (ycsb.Session, error) {
	s := &session{db: db, random: generator.NewRandom(db.options.Seed, db.sessions.Add(1))}
	return s, context.Cause(ctx)
}

// Facts says that there is no database.
func (db *DB) Facts() map[string]string { return map[string]string{"database": "none"} }

// Close does nothing.
func (db *DB) Close() error { return nil }

// session is one thread's.
type session struct {
	db     *DB
	random *generator.Random
}

// answer waits for the delay and is OK, unless the context ends before.
func (s *session) answer(ctx context.Context) (ycsb.Status, error) {
	if s.db.delay == 0 {
		return ycsb.OK, nil
	}
	delay := s.db.delay
	if s.db.randomize {
		delay = time.Duration(s.random.Below(delay.Milliseconds())) * time.Millisecond
	}
	if delay == 0 {
		return ycsb.OK, nil
	}
	if err := s.db.options.Clock.Wait(ctx, delay); err != nil {
		return ycsb.ErrorStatus, fmt.Errorf("wait for the simulated delay: %w", err)
	}
	return ycsb.OK, nil
}

// Read finds no field.
func (s *session) Read(ctx context.Context, _ []byte, _ [][]byte, _ *ycsb.Record) (ycsb.Status, error) {
	return s.answer(ctx)
}

// Scan finds no record.
func (s *session) Scan(ctx context.Context, _ []byte, _ int, _ [][]byte, _ func(ycsb.Record)) (ycsb.Status, error) {
	return s.answer(ctx)
}

func (s *session) Update(ctx context.Context, _ []byte, _ []ycsb.Field) (ycsb.Status, error) {
	return s.answer(ctx)
}

func (s *session) Insert(ctx context.Context, _ []byte, _ []ycsb.Field) (ycsb.Status, error) {
	return s.answer(ctx)
}

func (s *session) Delete(ctx context.Context, _ []byte) (ycsb.Status, error) { return s.answer(ctx) }

func (s *session) Close(context.Context) (ycsb.Status, error) { return ycsb.OK, nil }
