package plan_test

import (
	"testing"

	"github.com/hadoop-bench/operator/runner/plan"
)

func TestConfHash(t *testing.T) {
	base := map[string][]byte{"core-site.xml": []byte("<a/>"), "hdfs-site.xml": []byte("<b/>")}
	want := plan.ConfHash(base)
	if len(want) != len("sha256:")+16 {
		t.Fatalf("ConfHash = %q, want sha256: and 16 digits", want)
	}
	tests := map[string]struct {
		files map[string][]byte
		same  bool
	}{
		"same files, other map":         {map[string][]byte{"hdfs-site.xml": []byte("<b/>"), "core-site.xml": []byte("<a/>")}, true},
		"content changed":               {map[string][]byte{"core-site.xml": []byte("<a/>"), "hdfs-site.xml": []byte("<c/>")}, false},
		"file renamed":                  {map[string][]byte{"core-site.xml": []byte("<a/>"), "hbase-site.xml": []byte("<b/>")}, false},
		"file missing":                  {map[string][]byte{"core-site.xml": []byte("<a/>")}, false},
		"empty file added":              {map[string][]byte{"core-site.xml": []byte("<a/>"), "hdfs-site.xml": []byte("<b/>"), "x": nil}, false},
		"byte moved from content":       {map[string][]byte{"core-site.xml": []byte("<a/"), ">hdfs-site.xml": []byte("<b/>")}, false},
		"contents exchanged":            {map[string][]byte{"core-site.xml": []byte("<b/>"), "hdfs-site.xml": []byte("<a/>")}, false},
		"one file holding both in line": {map[string][]byte{"core-site.xml": []byte("<a/>hdfs-site.xml<b/>")}, false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := plan.ConfHash(tt.files); (got == want) != tt.same {
				t.Errorf("ConfHash = %s, base %s, want same = %v", got, want, tt.same)
			}
		})
	}
}

// TestConfHashIsStable pins the value: operator and runner of different builds must agree.
func TestConfHashIsStable(t *testing.T) {
	const empty, one = "sha256:e3b0c44298fc1c14", "sha256:807b746c56f95d6f"
	if got := plan.ConfHash(nil); got != empty {
		t.Errorf("ConfHash(nil) = %s, want %s", got, empty)
	}
	if got := plan.ConfHash(map[string][]byte{"core-site.xml": []byte("<configuration/>")}); got != one {
		t.Errorf("ConfHash(one file) = %s, want %s", got, one)
	}
}
