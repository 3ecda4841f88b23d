package ycsb_test

import (
	"encoding/json"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hadoop-bench/operator/runner/ycsb"
)

func valuesOf(p *ycsb.Properties) map[string]string {
	values := map[string]string{}
	for _, name := range p.Names() {
		values[name], _ = p.Get(name)
	}
	return values
}

// testdata/properties.json was made by java.util.Properties of OpenJDK 17, each text given as Latin-1; null is a refusal.
func TestPropertiesAreJavas(t *testing.T) {
	text, err := os.ReadFile("testdata/properties.json")
	if err != nil {
		t.Fatal(err)
	}
	var tests []struct {
		Text       string
		Properties map[string]string
	}
	if err := json.Unmarshal(text, &tests); err != nil {
		t.Fatal(err)
	}
	for _, test := range tests {
		p, err := ycsb.ReadProperties(strings.NewReader(latin1(test.Text)))
		if (err != nil) != (test.Properties == nil) {
			t.Errorf("%q: error %v, Java has %v", test.Text, err, test.Properties)
			continue
		}
		if err != nil {
			continue
		}
		if diff := cmp.Diff(test.Properties, valuesOf(p)); diff != "" {
			t.Errorf("%q (-Java +ours):\n%s", test.Text, diff)
		}
	}
}

// latin1 returns the Latin-1 bytes of a text.
func latin1(s string) string {
	var b []byte
	for _, r := range s {
		b = append(b, byte(r))
	}
	return string(b)
}

func TestPropertiesErrorsTellTheLine(t *testing.T) {
	_, err := ycsb.ReadProperties(strings.NewReader("a=1\nb=\\\n 2\nc=\\u12"))
	if err == nil || !strings.HasPrefix(err.Error(), `line 4: \u12: `) {
		t.Errorf("error %v", err)
	}
}

func TestLaterPropertiesWin(t *testing.T) {
	p, later := properties(t, "a=1\nb=1\nc=1\n"), properties(t, "b=2\nc=2\n")
	p.Merge(later)
	if err := p.Assign("c=3=x"); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]string{"a": "1", "b": "2", "c": "3=x"}, valuesOf(p)); diff != "" {
		t.Error(diff)
	}
	if err := p.Assign("recordcount"); err == nil || !strings.Contains(err.Error(), "-p recordcount: write it as name=value") {
		t.Errorf("error %v", err)
	}
}

func properties(t *testing.T, text string) *ycsb.Properties {
	t.Helper()
	p, err := ycsb.ReadProperties(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// Properties that were read can be written with every character escaped, and read again.
func FuzzReadProperties(f *testing.F) {
	f.Add("a=b\\\n c\n#d\ne:\\u0041")
	f.Add("\\\r\n\\\\\r=\\")
	f.Fuzz(func(t *testing.T, text string) {
		p, err := ycsb.ReadProperties(strings.NewReader(text))
		if err != nil {
			return
		}
		var again strings.Builder
		want := valuesOf(p)
		for _, name := range slices.Sorted(maps.Keys(want)) {
			again.WriteString(escaped(name) + "=" + escaped(want[name]) + "\n")
		}
		if diff := cmp.Diff(want, valuesOf(properties(t, again.String()))); diff != "" {
			t.Error(diff)
		}
	})
}
