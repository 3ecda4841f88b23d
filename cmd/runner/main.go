// Command runner is what runs in a benchmark's pods.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/hadoop-bench/operator/runner/measure"
	"github.com/hadoop-bench/operator/runner/shard"
)

func main() {
	os.Exit(shard.Command(context.Background(), shard.Process{
		Args: os.Args[1:], LookupEnv: os.LookupEnv, Stdout: os.Stdout, Stderr: os.Stderr,
		Signals: listen(), Clock: measure.System(), Root: os.DirFS("/"),
	}))
}

// listen returns what tells of the signals that stop the process.
func listen() <-chan os.Signal {
	signals := make(chan os.Signal, 2) // a second one is obeyed, too
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT)
	// Under nohup it is ignored and is to stay so.
	if !signal.Ignored(syscall.SIGHUP) {
		signal.Notify(signals, syscall.SIGHUP)
	}
	// A reader that went away shows as a failed write, after which there is time to clean up.
	signal.Ignore(syscall.SIGPIPE)
	return signals
}
