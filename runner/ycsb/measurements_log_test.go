package ycsb_test

import (
	"bytes"
	"compress/zlib"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hadoop-bench/operator/runner/report"
	"github.com/hadoop-bench/operator/runner/ycsb"
)

// memory is a file in memory.
type memory struct {
	bytes.Buffer
	closed bool
	err    error // of writing
}

func (m *memory) Write(text []byte) (int, error) {
	if m.err != nil {
		return 0, m.err
	}
	return m.Buffer.Write(text)
}

func (m *memory) Close() error {
	m.closed = true
	return nil
}

// decodeHDR reads an interval's histogram: its greatest value, and counts by index, as HdrHistogram's version 2 encodes them.
func decodeHDR(t *testing.T, line string) (highest int64, counts map[int]int64) {
	t.Helper()
	text, err := base64.StdEncoding.DecodeString(line[strings.LastIndex(line, ",")+1:])
	if err != nil || binary.BigEndian.Uint32(text) != 0x1c849314 || int(binary.BigEndian.Uint32(text[4:])) != len(text)-8 {
		t.Fatalf("%v, begins with %x of %d bytes", err, text[:8], len(text))
	}
	r, err := zlib.NewReader(bytes.NewReader(text[8:]))
	if err != nil {
		t.Fatal(err)
	}
	payload, err := io.ReadAll(r)
	if err != nil || len(payload) < 40 {
		t.Fatalf("%v of %d bytes", err, len(payload))
	}
	want := "1c849313" + "%" + "00000000" + "00000003" + "0000000000000001"
	if got := hex.EncodeToString(payload[:4]) + "%" + hex.EncodeToString(payload[8:24]); got != want || hex.EncodeToString(payload[32:40]) != "3ff0000000000000" {
		t.Fatalf("header %s %s, want %s", got, hex.EncodeToString(payload[32:40]), want)
	}
	if n := int(binary.BigEndian.Uint32(payload[4:])); n != len(payload)-40 {
		t.Fatalf("%d bytes of counts, %d said", len(payload)-40, n)
	}
	counts = map[int]int64{}
	rest := bytes.NewReader(payload[40:])
	for index := 0; rest.Len() > 0; index++ {
		// Varint is the same encoding of numbers below 2^55.
		n, err := binary.ReadVarint(rest)
		switch {
		case err != nil:
			t.Fatal(err)
		case n < 0:
			index += int(-n) - 1
		default:
			counts[index] = n
		}
	}
	return int64(binary.BigEndian.Uint64(payload[24:])), counts
}

func TestHDRLogs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		files := map[string]*memory{}
		r := newRun(t, &fakeDB{do: takes(300 * ms)}, reads)
		r.Operations, r.StatusInterval, r.OnStatus = 5, time.Second, func(report.YCSBStatus) {}
		r.Logs = &ycsb.HDRLogs{Open: func(metric string) (io.WriteCloser, error) {
			files[metric] = new(memory)
			return files[metric], nil
		}}
		do(t, r)
		if err := r.Logs.Close(); err != nil || len(files) != 2 || !files["READ"].closed || !files["CLEANUP"].closed {
			t.Fatalf("%v, files %v", err, files)
		}
		lines := strings.Split(strings.TrimSuffix(files["READ"].String(), "\n"), "\n")
		for k := 4; k < len(lines); k++ {
			highest, counts := decodeHDR(t, lines[k])
			// 300000 lies in the eighth doubling, whose steps are of 256.
			want := map[int]int64{8<<10 + 300000>>8: []int64{3, 2}[k-4]}
			if diff := cmp.Diff(want, counts); diff != "" || highest < 300000 {
				t.Errorf("interval %d up to %d (-want +got):\n%s", k-4, highest, diff)
			}
			lines[k] = lines[k][:strings.LastIndex(lines[k], ",")]
		}
		want := []string{
			"#[Logging for: READ]", "#[Histogram log format version 1.3]", "#[StartTime: 946684800.000 (seconds since epoch), Sat Jan 01 00:00:00 UTC 2000]",
			`"StartTimestamp","Interval_Length","Interval_Max","Interval_Compressed_Histogram"`, "0.000,1.000,0.300", "1.000,0.500,0.300",
		}
		if diff := cmp.Diff(want, lines); diff != "" {
			t.Errorf("lines (-want +got):\n%s", diff)
		}
	})
}

func TestHDRLogErrors(t *testing.T) {
	full := errors.New("no space left")
	for name, open := range map[string]func(string) (io.WriteCloser, error){
		"open the log of ":  func(string) (io.WriteCloser, error) { return nil, full },
		"write the log of ": func(string) (io.WriteCloser, error) { return &memory{err: full}, nil },
	} {
		synctest.Test(t, func(t *testing.T) {
			r := newRun(t, &fakeDB{do: takes(300 * ms)}, reads)
			r.Operations, r.Logs = 5, &ycsb.HDRLogs{Open: open}
			if result := do(t, r); result.Operations != 5 {
				t.Errorf("%d operations", result.Operations)
			}
			if err := r.Logs.Close(); !errors.Is(err, full) || !strings.Contains(err.Error(), name) {
				t.Errorf("%v, want %q", err, name)
			}
		})
	}
}
