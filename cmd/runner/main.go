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
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT)
	os.Exit(shard.Command(context.Background(), shard.Process{
		Args: os.Args[1:], LookupEnv: os.LookupEnv, Stdout: os.Stdout, Stderr: os.Stderr,
		Signals: signals, Clock: measure.System(), Root: os.DirFS("/"),
	}))
}
