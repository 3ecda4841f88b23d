package conf_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/hadoop-bench/operator/runner/hadoop/conf"
)

// site makes the text of a configuration file from names and values.
func site(pairs ...string) []byte {
	var b strings.Builder
	b.WriteString("<?xml version=\"1.0\"?>\n<configuration>\n")
	for i := 0; i < len(pairs); i += 2 {
		fmt.Fprintf(&b, "<property><name>%s</name><value>%s</value></property>\n", pairs[i], pairs[i+1])
	}
	b.WriteString("</configuration>\n")
	return []byte(b.String())
}

func load(t *testing.T, files map[string][]byte, opts conf.Options) *conf.Conf {
	t.Helper()
	c, err := conf.Load(files, opts)
	if err != nil {
		t.Fatalf("Load: %v", err)
	}
	return c
}

func core(text string) map[string][]byte { return map[string][]byte{"core-site.xml": []byte(text)} }

func TestLoadProperties(t *testing.T) {
	tests := map[string]struct {
		files map[string][]byte
		opts  conf.Options
		want  map[string]string
	}{
		"no files": {want: map[string]string{"a": "-"}},
		"one property, with space around": {
			files: core("<configuration><property>\n<name> a </name>\n<value> 1\n</value></property></configuration>"),
			want:  map[string]string{"a": "1"},
		},
		"hdfs-site over core-site": {
			files: map[string][]byte{"hdfs-site.xml": site("a", "2"), "core-site.xml": site("a", "1", "b", "1")},
			want:  map[string]string{"a": "2", "b": "1"},
		},
		"other files are not read unless named": {
			files: map[string][]byte{"hbase-site.xml": site("a", "2")},
			want:  map[string]string{"a": "-"},
		},
		"other files, named": {
			files: map[string][]byte{"hbase-site.xml": site("a", "2"), "core-site.xml": site("a", "1")},
			opts:  conf.Options{Files: []string{"core-site.xml", "hbase-site.xml"}},
			want:  map[string]string{"a": "2"},
		},
		"final stays": {
			files: map[string][]byte{
				"core-site.xml": []byte("<configuration><property><name>a</name><value>1</value><final>true</final></property></configuration>"),
				"hdfs-site.xml": site("a", "2"),
			},
			want: map[string]string{"a": "1"},
		},
		"override over final": {
			files: core("<configuration><property><name>a</name><value>1</value><final>true</final></property></configuration>"),
			opts:  conf.Options{Overrides: map[string]string{"a": "3"}},
			want:  map[string]string{"a": "3"},
		},
		"attributes": {
			files: core(`<configuration><property name="a" value="1" final="TRUE"/><property name="a" value="2"/></configuration>`),
			want:  map[string]string{"a": "1"},
		},
		"last of one file": {files: map[string][]byte{"core-site.xml": site("a", "1", "a", "2")}, want: map[string]string{"a": "2"}},
		"a property without a value is passed over": {
			files: core("<configuration><property><name>a</name><value>1</value></property><property><name>a</name></property></configuration>"),
			want:  map[string]string{"a": "1"},
		},
		"an empty value is the default": {files: map[string][]byte{"core-site.xml": site("a", "")}, want: map[string]string{"a": "-"}},
		"comments, markup in descriptions, unknown parts": {
			files: core("<!-- x --><configuration><property><name>a</name><value>1<!-- y -->2</value><description>see <b>this</b></description><tag>z</tag></property></configuration>"),
			want:  map[string]string{"a": "12"},
		},
		"escapes and CDATA": {
			files: core("<configuration><property><name>a</name><value>&lt;&amp;<![CDATA[<x>]]></value></property></configuration>"),
			want:  map[string]string{"a": "<&<x>"},
		},
		"nested configuration": {
			files: core("<configuration><configuration><property><name>a</name><value>1</value></property></configuration></configuration>"),
			want:  map[string]string{"a": "1"},
		},
		"deprecated names": {
			files: map[string][]byte{"core-site.xml": site("fs.default.name", "hdfs://a", "dfs.block.size", "64m")},
			want:  map[string]string{"fs.defaultFS": "hdfs://a", "fs.default.name": "hdfs://a", "dfs.blocksize": "64m"},
		},
		"deprecated name as override": {
			files: map[string][]byte{"core-site.xml": site("fs.defaultFS", "hdfs://a")},
			opts:  conf.Options{Overrides: map[string]string{"fs.default.name": "hdfs://b"}},
			want:  map[string]string{"fs.defaultFS": "hdfs://b"},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			c := load(t, tt.files, tt.opts)
			for key, want := range tt.want {
				if got, err := c.String(key, "-"); err != nil || got != want {
					t.Errorf("String(%s) = %q, %v, want %q", key, got, err, want)
				}
			}
		})
	}
}

func TestInclude(t *testing.T) {
	const include = `<configuration xmlns:xi="http://www.w3.org/2001/XInclude">%s</configuration>`
	tests := map[string]struct {
		main  string
		other map[string][]byte
		want  map[string]string
	}{
		"in place of the element": {
			main:  `<property><name>a</name><value>0</value></property><xi:include href="x.xml"/><property><name>b</name><value>0</value></property>`,
			other: map[string][]byte{"x.xml": site("a", "1", "b", "1", "c", "1")},
			want:  map[string]string{"a": "1", "b": "0", "c": "1"},
		},
		"relative with a dot": {
			main:  `<xi:include href="./x.xml"/>`,
			other: map[string][]byte{"x.xml": site("a", "1")},
			want:  map[string]string{"a": "1"},
		},
		"fallback not used": {
			main:  `<xi:include href="x.xml"><xi:fallback><property><name>a</name><value>2</value></property><xi:include href="absent.xml"/></xi:fallback></xi:include>`,
			other: map[string][]byte{"x.xml": site("a", "1")},
			want:  map[string]string{"a": "1"},
		},
		"fallback used": {
			main: `<xi:include href="x.xml"><xi:fallback><property><name>a</name><value>2</value></property></xi:fallback></xi:include>`,
			want: map[string]string{"a": "2"},
		},
		"empty fallback": {
			main: `<xi:include href="x.xml"><xi:fallback/></xi:include>`,
			want: map[string]string{"a": "-"},
		},
		"two levels": {
			main: `<xi:include href="x.xml"/>`,
			other: map[string][]byte{
				"x.xml": []byte(fmt.Sprintf(include, `<xi:include href="y.xml"/>`)),
				"y.xml": site("a", "deep"),
			},
			want: map[string]string{"a": "deep"},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			files := map[string][]byte{"core-site.xml": []byte(fmt.Sprintf(include, tt.main))}
			for name, content := range tt.other {
				files[name] = content
			}
			c := load(t, files, conf.Options{})
			for key, want := range tt.want {
				if got, err := c.String(key, "-"); err != nil || got != want {
					t.Errorf("String(%s) = %q, %v, want %q", key, got, err, want)
				}
			}
		})
	}
}

func TestLoadErrors(t *testing.T) {
	branching := "<configuration>" + strings.Repeat(`<include href="b.xml"/>`, 300) + "</configuration>"
	tests := map[string]struct {
		files map[string][]byte
		want  string // part of the message
	}{
		"not XML":             {core("hello"), "core-site.xml line 1: no <configuration> element"},
		"empty file":          {core(""), "core-site.xml line 1: no <configuration> element"},
		"cut":                 {core("<configuration>\n<property>\n<name>a</na"), "core-site.xml line 3"},
		"wrong root":          {core("\n<properties/>"), "core-site.xml line 2: <properties> where"},
		"two roots":           {core("<configuration/><configuration/>"), "<configuration> where the one"},
		"no name":             {core("<configuration>\n<property><value>1</value></property></configuration>"), "line 2: a <property> without a <name>"},
		"element in a value":  {core("<configuration><property><name>a</name><value>x<y/></value></property></configuration>"), "<y> within <value>; write < as &lt;"},
		"unknown element":     {core("<configuration><propertie/></configuration>"), "<propertie> in <configuration>"},
		"unknown entity":      {core("<configuration><property><name>a</name><value>&x;</value></property></configuration>"), "line 1: invalid character entity &x;"},
		"doctype entity":      {core(`<!DOCTYPE c [<!ENTITY x SYSTEM "file:///etc/passwd">]><configuration><property><name>a</name><value>&x;</value></property></configuration>`), "invalid character entity &x;"},
		"foreign encoding":    {core(`<?xml version="1.0" encoding="UTF-16"?><configuration/>`), `encoding "UTF-16"`},
		"too large":           {core(strings.Repeat(" ", conf.MaxFileBytes+1)), "core-site.xml has 1048577 bytes, more than 1048576"},
		"include of nothing":  {core(`<configuration><include href="x.xml"/></configuration>`), `included file "x.xml" does not exist and there is no <fallback>`},
		"include of itself":   {core(`<configuration><include href="core-site.xml"/></configuration>`), "is the 11th within one another"},
		"include by URL":      {core(`<configuration><include href="http://h/x.xml"/></configuration>`), `include of "http://h/x.xml"; only a file beside this one`},
		"include from above":  {core(`<configuration><include href="../x.xml"/></configuration>`), "only a file beside this one"},
		"include of text":     {core(`<configuration><include href="x.xml" parse="text"/></configuration>`), `parse="text"; only xml`},
		"include without":     {core(`<configuration><include/></configuration>`), `include of ""`},
		"element in include":  {core(`<configuration><include href="x.xml"><else/></include></configuration>`), "<else> in <include>"},
		"cut fallback":        {core(`<configuration><include href="core-site.xml2"><fallback>`), "core-site.xml line 1"},
		"error in included":   {map[string][]byte{"core-site.xml": []byte(`<configuration><include href="x.xml"/></configuration>`), "x.xml": []byte("\n\n<a/>")}, "included by core-site.xml: unusable Hadoop configuration file: x.xml line 3"},
		"too many inclusions": {map[string][]byte{"core-site.xml": []byte(branching), "b.xml": site("a", "1")}, "one of more than 256 in all"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := conf.Load(tt.files, conf.Options{})
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Fatalf("Load: %v, want an error with %q", err, tt.want)
			}
			if !errors.Is(err, conf.ErrFile) {
				t.Errorf("Load: %v is not an ErrFile", err)
			}
		})
	}
}

func TestOverrideWithoutName(t *testing.T) {
	if _, err := conf.Load(nil, conf.Options{Overrides: map[string]string{" ": "x"}}); err == nil {
		t.Error("Load accepted an override without a name")
	}
}

func TestReadDir(t *testing.T) {
	// As the kubelet lays a ConfigMap out: the data in a version's directory, ..data linked to it, each key linked
	// through ..data.
	dir := t.TempDir()
	version := filepath.Join(dir, "..2026_12_01")
	for _, step := range []error{
		os.Mkdir(version, 0o755),
		os.WriteFile(filepath.Join(version, "core-site.xml"), site("a", "1"), 0o644),
		os.Symlink("..2026_12_01", filepath.Join(dir, "..data")),
		os.Symlink("..data/core-site.xml", filepath.Join(dir, "core-site.xml")),
		os.Mkdir(filepath.Join(dir, "directory"), 0o755),
		os.WriteFile(filepath.Join(dir, "log4j.properties"), []byte("x"), 0o644),
	} {
		if step != nil {
			t.Fatal(step)
		}
	}
	files, err := conf.ReadDir(dir)
	if err != nil {
		t.Fatalf("ReadDir: %v", err)
	}
	want := map[string][]byte{"core-site.xml": site("a", "1"), "log4j.properties": []byte("x")}
	if diff := cmp.Diff(want, files); diff != "" {
		t.Errorf("ReadDir (-want +got):\n%s", diff)
	}
	c, err := conf.LoadDir(dir, conf.Options{})
	if err != nil {
		t.Fatalf("LoadDir: %v", err)
	}
	if got, err := c.String("a", ""); got != "1" || err != nil {
		t.Errorf("String(a) = %q, %v, want 1", got, err)
	}
}

func TestReadDirErrors(t *testing.T) {
	tests := map[string]struct {
		make func(t *testing.T, dir string) string
		want string // part of the message; empty: no error and no files
	}{
		"no directory": {func(_ *testing.T, dir string) string { return filepath.Join(dir, "absent") }, ""},
		"a file": {func(t *testing.T, dir string) string {
			path := filepath.Join(dir, "f")
			write(t, path, nil)
			return path
		}, "list Hadoop configuration"},
		"a large file": {func(t *testing.T, dir string) string {
			write(t, filepath.Join(dir, "x.xml"), make([]byte, conf.MaxFileBytes+1))
			return dir
		}, "x.xml has 1048577 bytes"},
		"a dangling link": {func(t *testing.T, dir string) string {
			if err := os.Symlink("absent", filepath.Join(dir, "x.xml")); err != nil {
				t.Fatal(err)
			}
			return dir
		}, "look at Hadoop configuration"},
		"many files": {func(t *testing.T, dir string) string {
			for i := range conf.MaxFiles + 1 {
				write(t, filepath.Join(dir, fmt.Sprint(i)), nil)
			}
			return dir
		}, "holds more than 256 files"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			files, err := conf.ReadDir(tt.make(t, t.TempDir()))
			if tt.want == "" {
				if err != nil || len(files) != 0 {
					t.Errorf("ReadDir = %v, %v, want no files and no error", files, err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), tt.want) || !errors.Is(err, conf.ErrFile) {
				t.Errorf("ReadDir: %v, want an ErrFile with %q", err, tt.want)
			}
		})
	}
}

func write(t *testing.T, path string, content []byte) {
	t.Helper()
	if err := os.WriteFile(path, content, 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestTypedValues(t *testing.T) {
	c := load(t, map[string][]byte{"core-site.xml": site(
		"int", "42", "hex", "0x1F", "neg", " -7 ", "word", "many", "long", "99999999999999999999",
		"bytes", "512", "k", "4k", "M", "128M", "e", "7e", "over", "8e", "badsize", "12q", "onlyunit", "k",
		"yes", "True", "no", "false", "maybe", "maybe",
		"plain", "30", "ms", "250ms", "s", "5 s", "d", "2d", "ns", "9ns", "us", "8us", "min", "3m", "h", "1h", "baddur", "soon", "overdur", "1000000d",
		"list", " a, b,,c ,",
	)}, conf.Options{})
	tests := map[string]struct {
		got  func() (any, error)
		want any
		err  string
	}{
		"int":               {func() (any, error) { return c.Int("int", 0) }, int64(42), ""},
		"hex":               {func() (any, error) { return c.Int("hex", 0) }, int64(31), ""},
		"negative":          {func() (any, error) { return c.Int("neg", 0) }, int64(-7), ""},
		"int default":       {func() (any, error) { return c.Int("absent", 5) }, int64(5), ""},
		"int of a word":     {func() (any, error) { return c.Int("word", 5) }, int64(0), `property word (core-site.xml:6): "many": not an integer`},
		"int too long":      {func() (any, error) { return c.Int("long", 5) }, int64(0), "not an integer of 64 bits"},
		"bytes":             {func() (any, error) { return c.Size("bytes", 0) }, int64(512), ""},
		"k":                 {func() (any, error) { return c.Size("k", 0) }, int64(4096), ""},
		"M":                 {func() (any, error) { return c.Size("M", 0) }, int64(128 << 20), ""},
		"e":                 {func() (any, error) { return c.Size("e", 0) }, int64(7 << 60), ""},
		"size default":      {func() (any, error) { return c.Size("absent", 9) }, int64(9), ""},
		"size beyond":       {func() (any, error) { return c.Size("over", 0) }, int64(0), "beyond 64 bits"},
		"size with q":       {func() (any, error) { return c.Size("badsize", 0) }, int64(0), `"12q": not a size`},
		"size without any":  {func() (any, error) { return c.Size("onlyunit", 0) }, int64(0), "not a size"},
		"true":              {func() (any, error) { return c.Bool("yes", false) }, true, ""},
		"false":             {func() (any, error) { return c.Bool("no", true) }, false, ""},
		"bool default":      {func() (any, error) { return c.Bool("absent", true) }, true, ""},
		"bool of a word":    {func() (any, error) { return c.Bool("maybe", true) }, false, "neither true nor false"},
		"plain duration":    {func() (any, error) { return c.Duration("plain", time.Second, 0) }, 30 * time.Second, ""},
		"ms":                {func() (any, error) { return c.Duration("ms", time.Second, 0) }, 250 * time.Millisecond, ""},
		"s with space":      {func() (any, error) { return c.Duration("s", time.Hour, 0) }, 5 * time.Second, ""},
		"us":                {func() (any, error) { return c.Duration("us", time.Hour, 0) }, 8 * time.Microsecond, ""},
		"ns":                {func() (any, error) { return c.Duration("ns", time.Hour, 0) }, 9 * time.Nanosecond, ""},
		"m":                 {func() (any, error) { return c.Duration("min", time.Hour, 0) }, 3 * time.Minute, ""},
		"h":                 {func() (any, error) { return c.Duration("h", time.Second, 0) }, time.Hour, ""},
		"d":                 {func() (any, error) { return c.Duration("d", time.Second, 0) }, 48 * time.Hour, ""},
		"duration default":  {func() (any, error) { return c.Duration("absent", time.Second, time.Minute) }, time.Minute, ""},
		"duration beyond":   {func() (any, error) { return c.Duration("overdur", time.Second, 0) }, time.Duration(0), "more than 292 years"},
		"duration of words": {func() (any, error) { return c.Duration("baddur", time.Second, 0) }, time.Duration(0), "not a time"},
		"list":              {func() (any, error) { return c.List("list") }, []string{"a", "b", "c"}, ""},
		"list default":      {func() (any, error) { return c.List("absent") }, []string(nil), ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := tt.got()
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("value (-want +got):\n%s", diff)
			}
			if tt.err == "" && err != nil || tt.err != "" && (err == nil || !strings.Contains(err.Error(), tt.err)) {
				t.Errorf("error %v, want %q", err, tt.err)
			}
		})
	}
}

func TestSubstitution(t *testing.T) {
	chain := []string{"c21", "end"}
	for i := range 21 {
		chain = append(chain, fmt.Sprintf("c%d", i), fmt.Sprintf("${c%d}", i+1))
	}
	base := []string{
		"host", "nn", "port", "8020", "which", "host", "twice", "${mid}/${mid}", "mid", "<${host}>",
		"self", "x${self}", "a", "${b}", "b", "${a}", "bomb", "${bomb1}${bomb1}", "bomb1", strings.Repeat("y", 40<<10),
	}
	for i, v := range base {
		base[i] = strings.NewReplacer("<", "&lt;", ">", "&gt;").Replace(v)
	}
	c := load(t, map[string][]byte{"core-site.xml": site(append(base, chain...)...)}, conf.Options{
		LookupEnv: func(name string) (string, bool) {
			value, ok := map[string]string{"HOST": "envhost", "EMPTY": ""}[name]
			return value, ok
		},
	})
	tests := map[string]struct{ value, want, err string }{
		"none":                        {"plain", "plain", ""},
		"property":                    {"hdfs://${host}:${port}", "hdfs://nn:8020", ""},
		"nested":                      {"${${which}}", "nn", ""},
		"the same twice":              {"${twice}", "<nn>/<nn>", ""},
		"unknown stays":               {"/tmp/${user.name}/${host}", "/tmp/${user.name}/nn", ""},
		"unclosed stays":              {"${host", "${host", ""},
		"empty stays":                 {"${}${host}", "${}nn", ""},
		"space stays":                 {"${ host}", "${ host}", ""},
		"environment":                 {"${env.HOST}", "envhost", ""},
		"environment, colon":          {"${env:HOST}", "envhost", ""},
		"environment, unset":          {"${env.ABSENT}", "${env.ABSENT}", ""},
		"default for unset":           {"${env.ABSENT-d}", "d", ""},
		"default not for empty":       {"x${env.EMPTY-d}", "x", ""},
		"default for empty":           {"${env.EMPTY:-d}", "d", ""},
		"default for unset too":       {"${env:ABSENT:-d-e}", "d-e", ""},
		"default not used":            {"${env.HOST:-d}", "envhost", ""},
		"default holding a variable":  {"${env.ABSENT:-${host}}", "nn", ""},
		"chain of 20":                 {"${c2}", "end", ""},
		"chain of 21":                 {"${c1}", "", "needs more than 20 substitutions"},
		"itself":                      {"${self}", "", "${self} refers to itself"},
		"one another":                 {"${a}", "", "needs more than 20 substitutions; do variables refer to one another?"},
		"growing":                     {"${bomb}", "", "grows beyond 65536 bytes"},
		"variable of deprecated name": {"${fs.default.name}", "${fs.default.name}", ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			c := c.With("probe", tt.value)
			got, err := c.String("probe", "")
			if got != tt.want {
				t.Errorf("String = %q, want %q", got, tt.want)
			}
			if tt.err == "" && err != nil || tt.err != "" && (err == nil || !strings.Contains(err.Error(), tt.err)) {
				t.Errorf("error %v, want %q", err, tt.err)
			}
			if value := new(conf.ValueError); tt.err != "" && !errors.As(err, &value) {
				t.Errorf("error %v is not a ValueError", err)
			}
		})
	}
}

// TestSubstitutionErrorsReachEveryGetter uses a property that refers to itself.
func TestSubstitutionErrorsReachEveryGetter(t *testing.T) {
	c := load(t, map[string][]byte{"core-site.xml": site("x", "${x}", "dfs.ha.namenodes.ns", "${x}", "dfs.ha.namenodes.ok", "a",
		"dfs.namenode.rpc-address.ok.a", "${x}", "fs.defaultFS", "${x}")}, conf.Options{})
	getters := map[string]func() error{
		"String":     func() error { _, err := c.String("x", ""); return err },
		"List":       func() error { _, err := c.List("x"); return err },
		"Int":        func() error { _, err := c.Int("x", 0); return err },
		"Size":       func() error { _, err := c.Size("x", 0); return err },
		"Bool":       func() error { _, err := c.Bool("x", false); return err },
		"Duration":   func() error { _, err := c.Duration("x", 1, 0); return err },
		"FileSystem": func() error { _, err := c.FileSystem(""); return err },
		"ids":        func() error { _, err := c.FileSystem("hdfs://ns"); return err },
		"address":    func() error { _, err := c.FileSystem("hdfs://ok"); return err },
	}
	for name, get := range getters {
		t.Run(name, func(t *testing.T) {
			if err := get(); !cmp.Equal(err, cmpopts.AnyError, cmpopts.EquateErrors()) {
				t.Errorf("%s: %v, want an error", name, err)
			}
		})
	}
}
