package cli_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/hadoop-bench/operator/runner/nnthroughput/cli"
)

func TestInOptions(t *testing.T) {
	for remedy, want := range map[string]string{
		"": "",
		"look into the NameNode's log at that time":                                                    "look into the NameNode's log at that time",
		"lower spec.filesPerDir or spec.dirsPerDir, or raise the limit":                                "lower -filesPerDir or -dirsPerDir, or raise the limit",
		"raise spec.blockSize to the NameNode's":                                                       "raise -blockSize to the NameNode's",
		"raise the quota (hdfs dfsadmin), or set another spec.baseDirName":                             "raise the quota (hdfs dfsadmin), or set another -baseDirName",
		`let user "u" write there, or set spec.target.user or spec.baseDirName`:                        `let user "u" write there, or act as another one (-user, or a Kerberos login), or set another -baseDirName`,
		"check spec.target, and that the NameNode runs and can be reached from this namespace":         "check -fs, and that the NameNode runs and can be reached from here",
		"correct the Hadoop configuration the run refers to, or spec.target":                           "correct the Hadoop configuration (HADOOP_CONF_DIR, -conf or -D), or -fs",
		"lower spec.datanodes below that port, or keep the pods off that node (spec.podTemplate)":      "lower -datanodes below that port, or run this on another machine",
		"set spec.replication, or dfs.replication, within the NameNode's dfs.namenode.replication.min": "set dfs.replication (-D) within the NameNode's dfs.namenode.replication.min",
		"act as the DataNodes' principal (spec.target.kerberos), or let the user in":                   "act as the DataNodes' principal (-keytab and -principal), or let the user in",
		"wait, or set spec.manageSafeMode":                                                             "wait, or set -leaveSafeMode",
		"the NameNode knows no Kerberos: leave spec.target.kerberos unset, or correct spec.target":     "the NameNode knows no Kerberos: set hadoop.security.authentication to simple (-D), or correct -fs",
	} {
		if got := cli.InOptions(remedy); got != want {
			t.Errorf("%q:\n got %q\nwant %q", remedy, got, want)
		}
	}
}

// TestEveryRemedyInOptions: no text of the code behind the command names a field that the command line has not got.
func TestEveryRemedyInOptions(t *testing.T) {
	field, pods := regexp.MustCompile(`\bspec\.`), regexp.MustCompile(`this namespace|podTemplate`)
	found := 0
	for _, dir := range []string{"..", "../../steps", "../../hadoop/*"} {
		files, err := filepath.Glob(filepath.Join(dir, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") || strings.HasSuffix(file, ".pb.go") {
				continue
			}
			for _, text := range literals(t, file) {
				if field.MatchString(text) || pods.MatchString(text) {
					found++
				}
				if got := cli.InOptions(text); field.MatchString(got) || pods.MatchString(got) {
					t.Errorf("%s: %q", file, got)
				}
			}
		}
	}
	if found < 20 {
		t.Errorf("only %d texts were found", found)
	}
}

// literals are the strings in a Go file.
func literals(t *testing.T, file string) []string {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	var texts []string
	ast.Inspect(parsed, func(n ast.Node) bool {
		if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			if text, err := strconv.Unquote(lit.Value); err == nil {
				texts = append(texts, text)
			}
		}
		return true
	})
	return texts
}
