package plan_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hadoop-bench/operator/runner/plan"
)

func TestBadBaseDirs(t *testing.T) {
	fits := "/" + strings.Repeat("x", 3999)
	long := fits + "x"
	for name, tc := range map[string]struct {
		dirs []string
		want []plan.BadDir
	}{
		"none":             {nil, nil},
		"good":             {[]string{"/a", "/ab", "/b/c", fits}, nil},
		"empty":            {[]string{""}, []plan.BadDir{{0, "", "write an absolute path, with a slash in front"}}},
		"relative":         {[]string{"a/b"}, []plan.BadDir{{0, "a/b", "write an absolute path, with a slash in front"}}},
		"root":             {[]string{"/"}, []plan.BadDir{{0, "/", "name a directory: the root belongs to everybody"}}},
		"root twice":       {[]string{"//"}, []plan.BadDir{{0, "//", "name a directory: the root belongs to everybody"}}},
		"dots":             {[]string{"/a/../b"}, []plan.BadDir{{0, "/a/../b", "write it in its shortest form, /b"}}},
		"slash at the end": {[]string{"/a/"}, []plan.BadDir{{0, "/a/", "write it in its shortest form, /a"}}},
		"colon":            {[]string{"/a:b"}, []plan.BadDir{{0, "/a:b", "choose another: HDFS allows neither colons nor zero bytes in names"}}},
		"zero byte":        {[]string{"/a\x00"}, []plan.BadDir{{0, "/a\x00", "choose another: HDFS allows neither colons nor zero bytes in names"}}},
		"long":             {[]string{long}, []plan.BadDir{{0, long, "choose a shorter one, of at most 4000 bytes"}}},
		"the same again":   {[]string{"/a", "/b", "/a"}, []plan.BadDir{{2, "/a", "choose one outside /a: threads in the two would meet"}}},
		"one in another": {[]string{"/a/b", "/a", "/a/b/c"}, []plan.BadDir{
			{0, "/a/b", "choose one outside /a: threads in the two would meet"},
			{2, "/a/b/c", "choose one outside /a/b: threads in the two would meet"},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, plan.BadBaseDirs(tc.dirs)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
