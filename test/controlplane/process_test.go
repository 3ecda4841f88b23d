package controlplane

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// processes are the programs that the tests started.
type processes struct {
	started []*process
	watcher *exec.Cmd
	pids    io.WriteCloser
}

type process struct {
	name string
	cmd  *exec.Cmd
	done chan struct{}
}

// guard starts a shell that ends our processes if the tests end without doing so: by a panic, a timeout or a signal. It
// learns their ids through a pipe, and the end of the tests by the pipe's end. An API server without etcd does not heed a
// mere request to end.
func (p *processes) guard() error {
	p.watcher = exec.Command("/bin/sh", "-c", `trap '' INT TERM; while read -r pid; do pids="$pids $pid"; done; kill $pids; sleep 3; kill -9 $pids`)
	p.watcher.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	var err error
	if p.pids, err = p.watcher.StdinPipe(); err != nil {
		return err
	}
	return p.watcher.Start()
}

func (p *processes) watch(pid int) error {
	_, err := fmt.Fprintln(p.pids, pid)
	return err
}

// guardChildren has all present children of this process watched: envtest does not tell the ids of what it starts.
func (p *processes) guardChildren() error {
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		return err
	}
	for _, file := range stats {
		doc, err := os.ReadFile(file)
		if err != nil {
			continue // it has ended
		}
		_, rest, _ := strings.Cut(string(doc), ") ") // after the name: state, parent
		fields := strings.Fields(rest)
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		if err != nil || len(fields) < 2 || fields[1] != strconv.Itoa(os.Getpid()) || pid == p.watcher.Process.Pid {
			continue
		}
		if err := p.watch(pid); err != nil {
			return err
		}
	}
	return nil
}

// start starts a program that writes into a log.
func (p *processes) start(log, program string, args ...string) error {
	out, err := os.Create(log)
	if err != nil {
		return err
	}
	defer out.Close()
	cmd := exec.Command(program, args...)
	cmd.Stdout, cmd.Stderr = out, out
	if err := cmd.Start(); err != nil {
		return err
	}
	pr := &process{name: filepath.Base(program), cmd: cmd, done: make(chan struct{})}
	go func() {
		_ = cmd.Wait()
		close(pr.done)
	}()
	p.started = append(p.started, pr)
	return p.watch(cmd.Process.Pid)
}

// alive names the first program that has ended, with the end of its log.
func (p *processes) alive() error {
	for _, pr := range p.started {
		select {
		case <-pr.done:
			return fmt.Errorf("%s has ended: %v", pr.name, pr.cmd.ProcessState)
		default:
		}
	}
	return nil
}

// stop asks all programs to end, and ends what has not done so after a while.
func (p *processes) stop() {
	for _, pr := range p.started {
		_ = pr.cmd.Process.Signal(syscall.SIGTERM)
	}
	limit := time.After(10 * time.Second)
	for _, pr := range p.started {
		select {
		case <-pr.done:
		case <-limit:
			_ = pr.cmd.Process.Kill()
			<-pr.done
		}
	}
}

// unguard ends the guard, which has nothing left to end.
func (p *processes) unguard() {
	if p.watcher != nil && p.watcher.Process != nil {
		_ = p.watcher.Process.Kill()
		_ = p.watcher.Wait()
	}
}
