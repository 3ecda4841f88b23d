package main

import (
	"os"
	"os/signal"
	"syscall"
	"testing"
)

// TestListen: a terminal that goes away stops the process as an interrupt does, and a reader that goes away does not end it.
func TestListen(t *testing.T) {
	if signal.Ignored(syscall.SIGHUP) {
		t.Skip("the tests run under nohup")
	}
	signals := listen()
	t.Cleanup(func() { signal.Reset() })
	for _, s := range []syscall.Signal{syscall.SIGHUP, syscall.SIGTERM, syscall.SIGINT} {
		if err := syscall.Kill(os.Getpid(), s); err != nil {
			t.Fatal(err)
		}
		if got := <-signals; got != s {
			t.Errorf("got %v, want %v", got, s)
		}
	}
	if !signal.Ignored(syscall.SIGPIPE) {
		t.Error("a broken pipe on standard output kills the process")
	}
}
