package main

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// A tool is one of the two that are compared: a command that takes NNThroughputBenchmark's options.
type tool struct {
	name    string
	command []string
}

// A sample is what one run of a tool said and cost.
type sample struct {
	operations int
	rate       float64 // operations per second, by the tool's own report
	cpu        float64 // seconds of the whole process, user and system
}

// runLimit bounds one run.
const runLimit = 5 * time.Minute

// run starts the tool once and reads its report.
func (t tool) run(ctx context.Context, args []string) (sample, error) {
	ctx, cancel := context.WithTimeout(ctx, runLimit)
	defer cancel()
	var out bytes.Buffer
	command := append(t.command[:len(t.command):len(t.command)], args...)
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil {
		return sample{}, fmt.Errorf("run %s %s: %w; it said:\n%s", t.name, strings.Join(args, " "), err, tail(out.String(), 2000))
	}
	s, err := parse(out.String())
	if err != nil {
		return sample{}, fmt.Errorf("run %s %s: %w; it said:\n%s", t.name, strings.Join(args, " "), err, tail(out.String(), 2000))
	}
	s.cpu = (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds()
	return s, nil
}

// parse reads the last report in a tool's output, which may have a logger's prefix before each line.
func parse(text string) (sample, error) {
	var s sample
	last := func(pattern string) string {
		all := regexp.MustCompile(pattern).FindAllStringSubmatch(text, -1)
		if len(all) == 0 {
			return ""
		}
		return all[len(all)-1][1]
	}
	var err error
	if s.operations, err = strconv.Atoi(last(`# operations: (\d+)`)); err != nil {
		return s, fmt.Errorf("read the number of operations: %w", err)
	}
	if s.rate, err = strconv.ParseFloat(last(` Ops per sec: (\S+)`), 64); err != nil || s.rate <= 0 {
		return s, fmt.Errorf("read the rate: %v, %w", s.rate, err)
	}
	return s, nil
}

func tail(s string, n int) string { return s[max(0, len(s)-n):] }
