package measure

import (
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// An alarm is a timer of the kernel's that is waited for like a connection. Go's own timers wake an idle process up to a
// millisecond late, as their wait is counted in whole ones; this one is late by some microseconds.
type alarm struct {
	fd   int
	file *os.File // owns fd
}

func newAlarm() (*alarm, error) {
	fd, err := unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_NONBLOCK|unix.TFD_CLOEXEC)
	if err != nil {
		return nil, err
	}
	return &alarm{fd: fd, file: os.NewFile(uintptr(fd), "alarm")}, nil
}

// wait returns after d, which must be positive.
func (a *alarm) wait(d time.Duration) error {
	spec := unix.ItimerSpec{Value: unix.NsecToTimespec(int64(d))}
	if err := unix.TimerfdSettime(a.fd, 0, &spec, nil); err != nil {
		return err
	}
	var expired [8]byte
	_, err := a.file.Read(expired[:])
	return err
}

// sleep waits for d, which must be positive, by an alarm. It is false if there is none to be had.
func (s *system) sleep(d time.Duration) bool {
	a, ok := s.alarms.Get().(*alarm)
	if !ok {
		var err error
		if a, err = newAlarm(); err != nil {
			return false
		}
	}
	if a.wait(d) != nil {
		return false
	}
	s.alarms.Put(a)
	return true
}
