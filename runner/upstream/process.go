package upstream

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"

	"github.com/hadoop-bench/operator/runner/measure"
)

const (
	// stopGrace is how long a process may take to end when it is told to.
	stopGrace = 10 * time.Second
	// failureGrace is how long the rest of a failure's lines may take.
	failureGrace = time.Second
	// maxLine bounds one line of output, in bytes; the rest of a longer one is a line of its own. The longest there is names
	// the blocks of 32766 DataNodes.
	maxLine = 1 << 20
)

// verdict is what is to become of a process after a line of its output.
type verdict int

const (
	goOn     verdict = iota
	killSoon         // what it has to say is not yet complete
	killNow
)

// process is a program with its output read line by line.
type process struct {
	clock measure.Clock
	line  []string // the program and its arguments
	dir   string   // that it works in
	env   []string // over the environment of this process
	// see takes each line, one at a time, and says what is to become of the process.
	see func(Line) verdict

	lock  sync.Mutex // of see
	group int        // of processes; 0 before it is known
	ended context.Context
	after verdict // the worst so far
}

// run runs the program to its end and returns its exit code; -1 if a signal ended it. It and what it started, which are a
// process group of their own, are told to end when the context ends, and killed if they do not. The error is the context's
// cause, or says that the program could not be started.
func (p *process) run(ctx context.Context) (code int, err error) {
	command := exec.Command(p.line[0], p.line[1:]...)
	command.Dir = p.dir
	command.Env = append(os.Environ(), p.env...)
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	// A child of its that lives on with the output must not keep us waiting.
	command.WaitDelay = stopGrace
	out, errs := &lines{process: p}, &lines{process: p, errors: true}
	command.Stdout, command.Stderr = out, errs
	var cancel func()
	p.ended, cancel = context.WithCancel(context.Background())
	defer cancel()
	if err := p.start(command); err != nil {
		return 0, fmt.Errorf("start %s: %w", p.line[0], err)
	}
	go p.stop(ctx)
	err = command.Wait()
	cancel()
	p.kill(syscall.SIGKILL) // what it started goes with it
	out.end()
	errs.end()
	if cause := context.Cause(ctx); cause != nil {
		return 0, cause
	}
	if exit := new(exec.ExitError); err != nil && !errors.As(err, &exit) && !errors.Is(err, exec.ErrWaitDelay) {
		return 0, fmt.Errorf("run %s: %w", p.line[0], err)
	}
	return command.ProcessState.ExitCode(), nil
}

// start starts the program before any of its lines is looked at.
func (p *process) start(command *exec.Cmd) error {
	p.lock.Lock()
	defer p.lock.Unlock()
	if err := command.Start(); err != nil {
		return err
	}
	p.group = command.Process.Pid
	return nil
}

// kill sends a signal to the whole group. There being none any more is fine.
func (p *process) kill(signal syscall.Signal) { _ = syscall.Kill(-p.group, signal) }

// stop tells the group to end once the context ends, and kills it a while later.
func (p *process) stop(ctx context.Context) {
	select {
	case <-ctx.Done():
	case <-p.ended.Done():
		return
	}
	p.kill(syscall.SIGTERM)
	p.killAfter(stopGrace)
}

// killAfter kills the group unless the program ends before.
func (p *process) killAfter(d time.Duration) {
	if p.clock.Wait(p.ended, d) == nil {
		p.kill(syscall.SIGKILL)
	}
}

// take hands a line on and does what is said of it.
func (p *process) take(l Line) {
	p.lock.Lock()
	defer p.lock.Unlock()
	next := p.see(l)
	if next <= p.after {
		return
	}
	p.after = next
	if next == killNow {
		p.kill(syscall.SIGKILL)
		return
	}
	go p.killAfter(failureGrace)
}

// lines is one stream of a process's output.
type lines struct {
	process *process
	errors  bool
	rest    []byte
}

// Write takes a piece of output and hands on the lines that it completes.
func (l *lines) Write(piece []byte) (int, error) {
	l.rest = append(l.rest, piece...)
	for {
		end := bytes.IndexByte(l.rest, '\n')
		switch {
		case end >= 0:
			l.emit(l.rest[:end])
			l.rest = l.rest[end+1:]
		case len(l.rest) >= maxLine:
			l.emit(l.rest)
			l.rest = nil
		default:
			return len(piece), nil
		}
	}
}

// end hands on what was left without an end of line.
func (l *lines) end() {
	if len(l.rest) > 0 {
		l.emit(l.rest)
		l.rest = nil
	}
}

func (l *lines) emit(text []byte) {
	l.process.take(Line{Text: string(text), Errors: l.errors, At: l.process.clock.Now()})
}
