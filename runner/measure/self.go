package measure

import (
	"fmt"
	"io/fs"
	"path"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/hadoop-bench/operator/runner/report"
)

// A Self reads what the process itself uses and may use.
type Self struct {
	// Root is the root of the file system, below which proc and sys lie. Nil means that control groups are not looked at.
	Root fs.FS
	// Cores is what the process may use when nothing limits it. 0 means what Go sees.
	Cores int
}

// A Usage is a reading of the process's counters at one moment.
type Usage struct {
	CPU       time.Duration // user and system time of the process
	Throttled time.Duration // time the kernel held its control group back
}

// Read takes a reading.
func (s Self) Read() (Usage, error) {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		return Usage{}, fmt.Errorf("read the process's CPU time: %w", err)
	}
	u := Usage{CPU: time.Duration(r.Utime.Nano() + r.Stime.Nano())}
	for _, dir := range s.groups() {
		u.Throttled = max(u.Throttled, s.throttled(dir))
	}
	return u, nil
}

// Between says what was used from one reading to a later one.
func (s Self) Between(before, after Usage) *report.ClientUse {
	return &report.ClientUse{
		CPUMicros:       (after.CPU - before.CPU).Microseconds(),
		AllowanceMilli:  s.allowance(),
		ThrottledMicros: (after.Throttled - before.Throttled).Microseconds(),
	}
}

// allowance is the CPU the process may use, in thousandths of a core: the smallest limit of its control groups, else the
// cores there are.
func (s Self) allowance() int64 {
	cores := s.Cores
	if cores == 0 {
		cores = runtime.NumCPU()
	}
	allowance := int64(cores) * 1000
	for _, dir := range s.groups() {
		if limit := s.limit(dir); limit > 0 {
			allowance = min(allowance, limit)
		}
	}
	return allowance
}

// groups returns the directories of the process's CPU control group and of those around it that can be seen. A container
// sees its own group at the top of the mount while /proc may name its place on the node, so both are tried.
func (s Self) groups() []string {
	if s.Root == nil {
		return nil
	}
	text, err := fs.ReadFile(s.Root, "proc/self/cgroup")
	if err != nil {
		return nil
	}
	var dirs []string
	for line := range strings.Lines(string(text)) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3) // hierarchy:controllers:path
		if len(parts) != 3 {
			continue
		}
		mount := "sys/fs/cgroup" // version 2, whose controllers are empty
		if parts[1] != "" {
			if !hasWord(parts[1], "cpu") {
				continue
			}
			mount = "sys/fs/cgroup/cpu"
		}
		for dir := path.Join("/", parts[2]); ; dir = path.Dir(dir) {
			dirs = append(dirs, path.Join(mount, dir))
			if dir == "/" {
				break
			}
		}
	}
	return dirs
}

func hasWord(list, word string) bool {
	for w := range strings.SplitSeq(list, ",") {
		if w == word {
			return true
		}
	}
	return false
}

// throttled reads the time in cpu.stat: throttled_usec in version 2, throttled_time (nanoseconds) in version 1.
func (s Self) throttled(dir string) time.Duration {
	text, err := fs.ReadFile(s.Root, path.Join(dir, "cpu.stat"))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(text)) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		n, err := strconv.ParseInt(value, 10, 64)
		switch {
		case err != nil:
		case key == "throttled_usec":
			return time.Duration(n) * time.Microsecond
		case key == "throttled_time":
			return time.Duration(n)
		}
	}
	return 0
}

// limit reads the CPU limit of a group in thousandths of a core; 0 if it has none.
func (s Self) limit(dir string) int64 {
	quota, period, ok := int64(0), int64(0), false
	if text, err := fs.ReadFile(s.Root, path.Join(dir, "cpu.max")); err == nil {
		q, p, _ := strings.Cut(strings.TrimSpace(string(text)), " ")
		quota, period, ok = number(q), number(p), true
	}
	if !ok {
		q, _ := fs.ReadFile(s.Root, path.Join(dir, "cpu.cfs_quota_us"))
		p, _ := fs.ReadFile(s.Root, path.Join(dir, "cpu.cfs_period_us"))
		quota, period = number(string(q)), number(string(p))
	}
	if quota <= 0 || period <= 0 { // "max", -1, or nothing there
		return 0
	}
	return quota * 1000 / period
}

func number(text string) int64 {
	n, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
	if err != nil {
		return 0
	}
	return n
}
