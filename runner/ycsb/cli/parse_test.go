package cli_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hadoop-bench/operator/runner/ycsb/cli"
)

func write(t *testing.T, path, text string) string {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestParse(t *testing.T) {
	dir := t.TempDir()
	one := write(t, filepath.Join(dir, "one"), "recordcount=1\noperationcount=10\ntable=a\n")
	two := write(t, filepath.Join(dir, "two"), "recordcount=2\ndotransactions=true\n")
	for name, tc := range map[string]struct {
		args    string
		binding string
		want    map[string]string // "" means that it is not set
		notes   int
	}{
		"load":                     {"load hbase2 -P " + one, cli.BindingHBase, map[string]string{"dotransactions": "false", "recordcount": "1"}, 0},
		"run":                      {"run basic -P " + one, cli.BindingBasic, map[string]string{"dotransactions": "true"}, 0},
		"later files win":          {"run hbase -P " + one + " -P " + two, cli.BindingHBase, map[string]string{"recordcount": "2", "operationcount": "10"}, 0},
		"properties win":           {"run hbase -p recordcount=3 -P " + one + " -p table=b=c", cli.BindingHBase, map[string]string{"recordcount": "3", "table": "b=c"}, 0},
		"the command wins":         {"load hbase -P " + two + " -t", cli.BindingHBase, map[string]string{"dotransactions": "false"}, 0},
		"options are properties":   {"run hbase10 -threads 8 -target 100 -s -l run1:", cli.BindingHBase, map[string]string{"threadcount": "8", "target": "100", "status": "true", "label": "run1:"}, 0},
		"the class":                {"-db site.ycsb.db.hbase2.HBaseClient2 -load -P " + one, cli.BindingHBase, map[string]string{"dotransactions": "false"}, 0},
		"an older class":           {"-db com.yahoo.ycsb.db.HBaseClient10 -t", cli.BindingHBase, map[string]string{"dotransactions": "true"}, 0},
		"the class by a property":  {"-p db=site.ycsb.db.hbase1.HBaseClient1", cli.BindingHBase, map[string]string{"dotransactions": ""}, 0},
		"no class":                 {"-P " + one, cli.BindingBasic, map[string]string{"dotransactions": ""}, 0},
		"a workload of ours":       {"run basic -P workloads/workloade", cli.BindingBasic, map[string]string{"maxscanlength": "100"}, 1},
		"by its name":              {"run basic -P workloada", cli.BindingBasic, map[string]string{"readproportion": "0.5"}, 1},
		"of another directory":     {"run basic -P /absent/ycsb/workloads/workloadc", cli.BindingBasic, map[string]string{"readproportion": "1"}, 1},
		"class path":               {"run hbase -cp " + dir + ":/absent.jar", cli.BindingHBase, nil, 1},
		"arguments of the machine": {"run hbase -jvm-args=-Xmx4g -jvm-args -Xms1g", cli.BindingHBase, nil, 2},
	} {
		t.Run(name, func(t *testing.T) {
			c, err := cli.Parse(strings.Fields(tc.args))
			if err != nil {
				t.Fatal(err)
			}
			got := map[string]string{}
			for name := range tc.want {
				got[name], _ = c.Properties.Get(name)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" && len(tc.want) > 0 {
				t.Errorf("properties (-want +got):\n%s", diff)
			}
			if c.Binding != tc.binding || len(c.Notes) != tc.notes {
				t.Errorf("binding %s, notes %q", c.Binding, c.Notes)
			}
		})
	}
}

func TestParseErrors(t *testing.T) {
	bad := write(t, filepath.Join(t.TempDir(), "bad"), `a=\u12`)
	for args, want := range map[string]string{
		"":                                 "no arguments: give load or run",
		"shell hbase":                      "shell: not supported",
		"test hbase":                       `"test" is no command: give load or run`,
		"run":                              "run: name the binding after it, hbase or basic",
		"load -P x":                        "load: name the binding after it",
		"run mongodb":                      `binding "mongodb" is not supported: give hbase or basic`,
		"run asynchbase":                   `binding "asynchbase" is not supported`,
		"run hbase3":                       `binding "hbase3" is not supported`,
		"-db site.ycsb.db.MongoDbClient":   `class "site.ycsb.db.MongoDbClient" of -db, or of the property db, is not supported`,
		"run hbase -db site.ycsb.BasicDB":  "option -db site.ycsb.BasicDB: the binding is named already",
		"run hbase -threads":               "option -threads: the value is missing",
		"run hbase -threads many":          `option for threadcount: "many" is not a whole number`,
		"run hbase -p recordcount":         "-p recordcount: write it as name=value",
		"run hbase -P /absent/workloada":   "option -P: open a properties file: open /absent/workloada: no such file or directory",
		"run hbase -P workloads/workloadx": "no such file or directory",
		"run hbase -P " + bad:              "line 1",
		"run hbase -x":                     "option -x is not known",
		"run hbase more":                   `"more": an option was expected`,
	} {
		if _, err := cli.Parse(strings.Fields(args)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", args, err, want)
		}
	}
	for _, args := range []string{"-h", "run hbase --help", "help"} {
		if _, err := cli.Parse(strings.Fields(args)); !errors.Is(err, cli.ErrHelp) {
			t.Errorf("%q: %v, want help", args, err)
		}
	}
}

// No command line makes Parse fail in another way than by an error, and what it accepts has a binding and properties.
func FuzzParse(f *testing.F) {
	for _, args := range []string{
		"load hbase2 -p a=b -threads 8", "run basic -P workloads/workloada -s -l x", "-db site.ycsb.BasicDB -load", "-jvm-args=-Xmx1g", "run", "",
	} {
		f.Add(args)
	}
	f.Fuzz(func(t *testing.T, text string) {
		args := strings.Split(text, " ")
		for k, a := range args {
			if k > 0 && args[k-1] == "-P" && !strings.HasPrefix(a, "workloads/") {
				t.Skip("no other files are read here")
			}
		}
		c, err := cli.Parse(args)
		if err == nil && (c.Properties == nil || c.Binding != cli.BindingHBase && c.Binding != cli.BindingBasic) {
			t.Errorf("%q: %+v", args, c)
		}
	})
}
