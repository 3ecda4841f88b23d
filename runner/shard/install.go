package shard

import (
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/hadoop-bench/operator/runner/report"
	"github.com/hadoop-bench/operator/runner/steps"
)

// install copies the running program into a directory that a container with another image shares, and writes there a
// passwd and a group file that name the user and the group the pod runs as: Java programs of Hadoop do not start as a user
// without a name. The files are mounted over /etc/passwd and /etc/group.
func (p Process) install(args []string) int {
	set := flag.NewFlagSet("runner install", flag.ContinueOnError)
	to := set.String("to", "", "`directory` to copy the runner to")
	if code, done := p.parse(set, args); done {
		return code
	}
	if *to == "" {
		fmt.Fprintln(p.Stderr, "runner install: -to is missing; give a directory")
		return report.ExitPlan
	}
	if err := installTo(*to); err != nil {
		fmt.Fprintf(p.Stderr, "runner install: %v\n", err)
		return report.ExitBenchmark
	}
	return report.ExitDone
}

func installTo(dir string) error {
	program, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find the running program: %w", err)
	}
	if err := copyProgram(program, filepath.Join(dir, "runner")); err != nil {
		return fmt.Errorf("copy the runner: %w", err)
	}
	files := map[string]string{"passwd": passwd(os.Getuid(), os.Getgid()), "group": group(os.Getgid())}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			return fmt.Errorf("write %s: %w", name, err)
		}
	}
	return nil
}

// copyProgram copies by way of another name, so that the program is there as a whole or not at all.
func copyProgram(from, to string) (err error) {
	source, err := os.Open(from)
	if err != nil {
		return err
	}
	defer source.Close()
	part := to + ".part"
	target, err := os.OpenFile(part, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o755)
	if err != nil {
		return err
	}
	_, err = io.Copy(target, source)
	if closeErr := target.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return err
	}
	return os.Rename(part, to)
}

// passwd is a file of users: root, and the one with the given number, if it is another.
func passwd(uid, gid int) string {
	text := "root:x:0:0:root:/root:/bin/sh\n"
	if uid != 0 {
		text += fmt.Sprintf("%s:x:%d:%d:%s:/tmp:/bin/sh\n", steps.DefaultUser, uid, gid, steps.DefaultUser)
	}
	return text
}

// group is a file of groups, likewise.
func group(gid int) string {
	text := "root:x:0:\n"
	if gid != 0 {
		text += fmt.Sprintf("%s:x:%d:\n", steps.DefaultUser, gid)
	}
	return text
}
