package main

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"strings"
	"time"
)

// Names of the tools.
const (
	oursName = "ours"
	javaName = "java"
)

// A tool is one of the two that are compared: a command that takes the original's options.
type tool struct {
	name    string
	command []string
}

// A sample is what one run of a tool said and cost.
type sample struct {
	operations int
	rate       float64 // operations per second, by the tool's own report
	steady     float64 // the same of the run's second half; 0: not told
	cpu        float64 // seconds of the whole process, user and system
}

// runLimit bounds one run.
const runLimit = 5 * time.Minute

// run starts the tool once and has its report read.
func (t tool) run(ctx context.Context, args []string, read func(stdout, stderr string) (sample, error)) (sample, error) {
	ctx, cancel := context.WithTimeout(ctx, runLimit)
	defer cancel()
	stdout, stderr, cpu, err := t.output(ctx, args)
	var s sample
	if err == nil {
		s, err = read(stdout, stderr)
	}
	if err != nil {
		return s, fmt.Errorf("run %s %s: %w; it said:\n%s%s", t.name, strings.Join(args, " "), err, tail(stdout, 2000), tail(stderr, 2000))
	}
	s.cpu = cpu
	return s, nil
}

// output runs the tool to its end, and tells the CPU time of all its processes in seconds.
func (t tool) output(ctx context.Context, args []string) (stdout, stderr string, cpu float64, err error) {
	var out, errs bytes.Buffer
	command := append(t.command[:len(t.command):len(t.command)], args...)
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err = cmd.Run(); cmd.ProcessState != nil {
		cpu = (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds()
	}
	return out.String(), errs.String(), cpu, err
}

func tail(s string, n int) string { return s[max(0, len(s)-n):] }
