package dfsio_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hadoop-bench/operator/runner/dfsio"
)

func TestParseMarker(t *testing.T) {
	tests := map[string]struct {
		text string
		want dfsio.Marker
		err  string
	}{
		"whole": {
			`{"version":1,"runUID":"u","run":"ns/run","created":["/a","/a/io_data"],"madeAt":"2026-12-01T10:00:00Z"}`,
			dfsio.Marker{Version: 1, RunUID: "u", Run: "ns/run", Created: []string{"/a", "/a/io_data"}, MadeAt: time.Date(2026, 12, 1, 10, 0, 0, 0, time.UTC)},
			"",
		},
		"more than we know":  {`{"version":1,"runUID":"u","later":true}`, dfsio.Marker{Version: 1, RunUID: "u"}, ""},
		"empty":              {"", dfsio.Marker{}, "unexpected end of JSON input"},
		"cut":                {`{"version":1,"runUID":"u`, dfsio.Marker{}, "unexpected end"},
		"other version":      {`{"version":2,"runUID":"u"}`, dfsio.Marker{}, "version 2, want 1"},
		"no run":             {`{"version":1}`, dfsio.Marker{}, "it names no run"},
		"root as directory":  {`{"version":1,"runUID":"u","created":["/"]}`, dfsio.Marker{}, `made directory "/"`},
		"relative directory": {`{"version":1,"runUID":"u","created":["a"]}`, dfsio.Marker{}, `made directory "a"`},
		"directory above":    {`{"version":1,"runUID":"u","created":["/a/.."]}`, dfsio.Marker{}, `made directory "/a/.."`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := dfsio.ParseMarker([]byte(tt.text))
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("ParseMarker (-want +got):\n%s", diff)
			}
			if tt.err == "" && err != nil || tt.err != "" && (err == nil || !strings.Contains(err.Error(), tt.err)) {
				t.Errorf("error %v, want %q", err, tt.err)
			}
		})
	}
}

// FuzzParseMarker: what is accepted can be written and read again.
func FuzzParseMarker(f *testing.F) {
	f.Add([]byte(`{"version":1,"runUID":"u","run":"ns/run","created":["/a","/a/io_data"],"madeAt":"2026-12-01T10:00:00Z"}`))
	f.Add([]byte(`{"version":1,"runUID":"u","created":["/"]}`))
	f.Add([]byte(`[]`))
	f.Fuzz(func(t *testing.T, text []byte) {
		m, err := dfsio.ParseMarker(text)
		if err != nil {
			return
		}
		again, err := json.Marshal(m)
		if err != nil {
			t.Fatalf("marker %+v cannot be written: %v", m, err)
		}
		if _, err := dfsio.ParseMarker(again); err != nil {
			t.Fatalf("marker %s is refused: %v", again, err)
		}
	})
}
