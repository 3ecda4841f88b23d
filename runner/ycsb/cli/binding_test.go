package cli_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hadoop-bench/operator/runner/measure"
	"github.com/hadoop-bench/operator/runner/report"
)

// A directory of the environment that cannot be read is refused, and a configuration without hbase-site.xml is told:
// in both cases HBase's defaults would hold unseen.
func TestConfigurationAbsent(t *testing.T) {
	empty, file := t.TempDir(), filepath.Join(t.TempDir(), "file")
	write(t, file, "")
	for name, tc := range map[string]struct {
		variable, dir string
		code          int
		want          string
	}{
		"HBASE_CONF_DIR is absent":  {"HBASE_CONF_DIR", "/absent", report.ExitPlan, `HBASE_CONF_DIR: \"/absent\" is no directory`},
		"HADOOP_CONF_DIR is a file": {"HADOOP_CONF_DIR", file, report.ExitPlan, "HADOOP_CONF_DIR: "},
		"no hbase-site.xml":         {"HBASE_CONF_DIR", empty, report.ExitTarget, "There is no file hbase-site.xml"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene("run hbase -P workloads/workloadc -p columnfamily=f -p hbase.zookeeper.quorum=127.0.0.1:1")
			s.process.Clock = measure.System()
			s.process.LookupEnv = func(name string) (string, bool) {
				if name != tc.variable {
					return "", false
				}
				return tc.dir, true
			}
			if code := s.run(t); code != tc.code || !strings.Contains(s.stderr.String(), tc.want) {
				t.Errorf("exit code %d, want %d and %q:\n%s", code, tc.code, tc.want, s.stderr.String())
			}
		})
	}
}

// The configuration is looked for in the directories of -cp, then of HBASE_CONF_DIR, then of HADOOP_CONF_DIR, and
// properties stand over it. Nothing listens at the ports, by which it is told what was read.
func TestConfiguration(t *testing.T) {
	site := func(port int) string {
		dir := t.TempDir()
		write(t, filepath.Join(dir, "hbase-site.xml"), fmt.Sprintf(
			"<configuration><property><name>hbase.zookeeper.quorum</name><value>127.0.0.1:%d</value></property></configuration>", port))
		return dir
	}
	one, two, three, none := site(1), site(2), site(3), t.TempDir()
	for name, tc := range map[string]struct {
		args          string
		hbase, hadoop string
		want          string
	}{
		"class path":                  {"-cp " + none + ":" + one, two, three, "127.0.0.1:1"},
		"HBASE_CONF_DIR":              {"-cp " + none, two, three, "127.0.0.1:2"},
		"HADOOP_CONF_DIR":             {"", "", three, "127.0.0.1:3"},
		"a property":                  {"-cp " + one + " -p hbase.zookeeper.quorum=127.0.0.1:4", two, three, "127.0.0.1:4"},
		"a class path of no use here": {"-cp /absent.jar", none, three, "127.0.0.1:3"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene("run hbase -P workloads/workloadc -p columnfamily=f " + tc.args)
			s.process.Clock = measure.System()
			s.process.LookupEnv = func(name string) (string, bool) {
				dir := map[string]string{"HBASE_CONF_DIR": tc.hbase, "HADOOP_CONF_DIR": tc.hadoop}[name]
				return dir, dir != ""
			}
			if code := s.run(t); code != report.ExitTarget || !strings.Contains(s.stderr.String(), "(now "+tc.want+")") {
				t.Errorf("exit code %d, want one of %s:\n%s", code, tc.want, s.stderr.String())
			}
		})
	}
	write(t, filepath.Join(one, "hbase-site.xml"), "<configuration>")
	s := newScene("run hbase -P workloads/workloadc -p columnfamily=f -cp " + one)
	s.process.Clock = measure.System()
	if code := s.run(t); code != report.ExitPlan || !strings.Contains(s.stderr.String(), "hbase-site.xml") {
		t.Errorf("exit code %d of a file that is cut off:\n%s", code, s.stderr.String())
	}
}
