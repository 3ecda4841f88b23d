package report

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// checkRows stores the rows of an attempt and reads them back, and measures them.
func checkRows(t *testing.T, in MergeInput) {
	t.Helper()
	rows, err := Rows(in)
	if err != nil {
		t.Fatal(err)
	}
	data, err := EncodeRows(rows)
	if err != nil {
		t.Fatal(err)
	}
	got, err := DecodeRows(data)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(rows, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if limit := 40 * len(rows); len(data) > limit {
		t.Errorf("%d rows take %d bytes, more than %d", len(rows), len(data), limit)
	}
	for i, line := range strings.Split(gunzip(t, data), "\n") {
		if i > 0 && len(line) > 100 {
			t.Fatalf("a row of %d bytes: %s", len(line), line)
		}
	}
}

func gunzip(t *testing.T, data []byte) string {
	t.Helper()
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestRowsText(t *testing.T) {
	rows, err := Rows(threeShards())
	if err != nil {
		t.Fatal(err)
	}
	data, err := EncodeRows(rows)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"v":1,"nodes":["n0","n1","n2"]}
{"i":0,"n":0,"s":0,"x":1000000,"b":10485760,"o":10}
{"i":1,"n":1,"s":20000,"x":1980000,"b":10485760,"o":20,"e":3,"c":500}
{"i":2,"n":2,"r":"Partial","s":10000,"x":1490000,"b":10485760,"o":30,"e":5,"c":250}
`
	if diff := cmp.Diff(want, gunzip(t, data)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A row of the largest figures that are to be expected is at most 100 bytes: 1 TiB in an hour on the last of 10,000
// shards.
func TestLargestRow(t *testing.T) {
	row := ShardRow{
		Index: 9999, Node: strings.Repeat("n", 253), Outcome: Complete, StartMicros: 9_999_999, ExecMicros: 3600 * second,
		Bytes: 1 << 40, Operations: 1 << 20, P99Nanos: 999_999_999, CPUPermille: 999,
	}
	data, err := EncodeRows([]ShardRow{row})
	if err != nil {
		t.Fatal(err)
	}
	if line := strings.Split(gunzip(t, data), "\n")[1]; len(line) > 100 {
		t.Errorf("%d bytes: %s", len(line), line)
	}
}

func TestRowsOfShardsThatNeverStarted(t *testing.T) {
	idle := failedReport()
	idle.Envelope.Index = 1
	idle.Body.Errors = []ErrorCount{{"A", maxInt64, ""}, {"B", 1, ""}}
	rows, err := Rows(MergeInput{Expected: 2, Reports: []*Report{idle, fullReport2(0)}})
	if err != nil {
		t.Fatal(err)
	}
	want := []ShardRow{
		{
			Outcome: Complete, ExecMicros: 12*second - 1200, Bytes: 2_000_000_000, Operations: 2000, Errors: 2,
			P99Nanos: fullReport().Body.Latency.Quantile(0.99), CPUPermille: 129,
		},
		{Index: 1, Outcome: Failed, Errors: maxInt64},
	}
	if diff := cmp.Diff(want, rows); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func fullReport2(index int32) *Report {
	r := fullReport()
	r.Envelope.Index = index
	return r
}

func TestRowsRefuses(t *testing.T) {
	if _, err := Rows(MergeInput{}); err == nil {
		t.Error("rows of nothing")
	}
}

func zip(t *testing.T, text string) []byte {
	t.Helper()
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	if _, err := z.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestDecodeRowsRefuses(t *testing.T) {
	const head = `{"v":1,"nodes":["a"]}`
	for name, tc := range map[string]struct {
		data []byte
		want error // nil: any
	}{
		"nothing":       {nil, nil},
		"not gzip":      {[]byte(head), nil},
		"empty":         {zip(t, ""), nil},
		"other version": {zip(t, `{"v":2}`), ErrVersion},
		"no JSON":       {zip(t, head+"\nx"), nil},
		"cut":           {zip(t, head+"\n"+`{"i":0,`), io.ErrUnexpectedEOF},
		"no such node":  {zip(t, head+"\n"+`{"i":0,"n":1}`), nil},
		"negative node": {zip(t, head+"\n"+`{"i":0,"n":-1}`), nil},
		"gzip cut":      {zip(t, head+"\n"+`{"i":0}`)[:30], nil},
	} {
		t.Run(name, func(t *testing.T) {
			rows, err := DecodeRows(tc.data)
			if err == nil || (tc.want != nil && !errors.Is(err, tc.want)) {
				t.Errorf("got %v, %v", rows, err)
			}
		})
	}
}

func FuzzDecodeRows(f *testing.F) {
	data, err := EncodeRows([]ShardRow{{Index: 1, Node: "n", Outcome: Partial, P99Nanos: 7}, {Outcome: Complete}})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Fuzz(func(t *testing.T, data []byte) {
		rows, err := DecodeRows(data)
		if err != nil {
			return
		}
		again, err := EncodeRows(rows)
		if err != nil {
			t.Fatal(err)
		}
		got, err := DecodeRows(again)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(rows, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}
