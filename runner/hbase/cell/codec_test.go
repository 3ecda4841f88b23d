package cell_test

import (
	"bytes"
	"encoding/hex"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hadoop-bench/operator/runner/hbase/cell"
)

// put is a cell as YCSB writes one.
func put() cell.Cell {
	return cell.Cell{
		Row: []byte("user1"), Family: []byte("cf"), Qualifier: []byte("field0"),
		Timestamp: cell.LatestTimestamp, Type: cell.Put, Value: []byte("xyz"),
	}
}

// encodings are bytes written by hand from the layout of KeyValueCodec.
func encodings() map[string]struct {
	cells []cell.Cell
	want  string
} {
	return map[string]struct {
		cells []cell.Cell
		want  string
	}{
		"none": {},
		"a put": {
			cells: []cell.Cell{put()},
			want: "00000024 00000019 00000003" + // total 36, key 25, value 3
				"0005 7573657231" + "02 6366" + "6669656c6430" + "7fffffffffffffff" + "04" + "78797a",
		},
		"all empty": {
			cells: []cell.Cell{{Row: []byte{}, Family: []byte{}, Qualifier: []byte{}, Value: []byte{}}},
			want:  "00000014 0000000c 00000000" + "0000" + "00" + "0000000000000000" + "00",
		},
		"two": {
			cells: []cell.Cell{
				{Row: []byte("r"), Family: []byte("f"), Qualifier: []byte("q"), Timestamp: 1, Type: cell.Put, Value: []byte{0xff}},
				{Row: []byte("r"), Family: []byte("f"), Qualifier: []byte{}, Timestamp: -1, Type: cell.DeleteFamily, Value: []byte{}},
			},
			want: "00000018 0000000f 00000001" + "0001 72" + "01 66" + "71" + "0000000000000001" + "04" + "ff" +
				"00000016 0000000e 00000000" + "0001 72" + "01 66" + "ffffffffffffffff" + "0e",
		},
	}
}

func decoded(t testing.TB, text string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.ReplaceAll(text, " ", ""))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestAppend(t *testing.T) {
	for name, tt := range encodings() {
		t.Run(name, func(t *testing.T) {
			block, size := []byte("before"), 0
			for i := range tt.cells {
				c := &tt.cells[i]
				size += cell.Size(c)
				var err error
				if block, err = cell.Append(block, c); err != nil {
					t.Fatal(err)
				}
			}
			want := append([]byte("before"), decoded(t, tt.want)...)
			if !bytes.Equal(block, want) {
				t.Errorf("encoded\n%x, want\n%x", block, want)
			}
			if size != len(want)-len("before") {
				t.Errorf("Size is %d together, want %d", size, len(want)-len("before"))
			}
		})
	}
}

func TestReader(t *testing.T) {
	for name, tt := range encodings() {
		t.Run(name, func(t *testing.T) {
			r := cell.NewReader(decoded(t, tt.want))
			var got []cell.Cell
			for c := (cell.Cell{}); r.Next(&c); {
				got = append(got, c)
			}
			if diff := cmp.Diff(tt.cells, got); diff != "" || r.Err() != nil || r.Left() != 0 {
				t.Errorf("read (-want +got):\n%s; error %v, %d bytes left", diff, r.Err(), r.Left())
			}
		})
	}
}

func TestReaderRefuses(t *testing.T) {
	good := "0001 72 01 66 71 0000000000000001 04"
	tests := map[string]struct{ block, want string }{
		"half a length":             {"0000", "a cellblock ends within a cell: 2 bytes are missing"},
		"less than its length":      {"00000018 0000000f", "a cellblock ends within a cell: 20 bytes are missing"},
		"a negative length":         {"ffffffff 0000000f", "a cellblock ends within a cell: 4294967291 bytes are missing"},
		"no key":                    {"00000008 00000000 00000000", "the lengths inside a cell contradict each other"},
		"key longer than the cell":  {"00000017 00000010 00000000" + good, "the lengths inside a cell contradict each other"},
		"key shorter than a key":    {"00000017 0000000b 00000004" + good, "the lengths inside a cell contradict each other"},
		"value longer than a cell":  {"00000017 0000000f 00000001" + good, "the lengths inside a cell contradict each other"},
		"lengths beyond 32 bits":    {"00000017 ffffffff 00000018" + good, "the lengths inside a cell contradict each other"},
		"row longer than the key":   {"00000017 0000000f 00000000 0006 72 01 66 71 0000000000000001 04", "the lengths inside a cell contradict each other"},
		"family longer than a key":  {"00000017 0000000f 00000000 0001 72 03 66 71 0000000000000001 04", "the lengths inside a cell contradict each other"},
		"good, then half of a cell": {"00000017 0000000f 00000000" + good + "00", "a cellblock ends within a cell: 3 bytes are missing"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			r := cell.NewReader(decoded(t, tt.block))
			c := cell.Cell{}
			for r.Next(&c) {
			}
			if r.Err() == nil || r.Err().Error() != tt.want {
				t.Errorf("error %v, want %s", r.Err(), tt.want)
			}
			if r.Next(&c) || r.Left() == 0 {
				t.Errorf("after an error Next found a cell, or %d bytes are left", r.Left())
			}
		})
	}
}

func TestAppendRefuses(t *testing.T) {
	tests := map[string]struct {
		row, family int
		want        string
	}{
		"longest":         {row: 32767, family: 127},
		"row too long":    {row: 32768, want: "a row key has 32768 bytes, HBase takes at most 32767"},
		"family too long": {row: 1, family: 128, want: "a column family's name has 128 bytes, HBase takes at most 127"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			c := cell.Cell{Row: make([]byte, tt.row), Family: make([]byte, tt.family), Qualifier: []byte{}, Value: []byte{}}
			b, err := cell.Append([]byte("b"), &c)
			if tt.want != "" {
				if err == nil || err.Error() != tt.want || string(b) != "b" {
					t.Errorf("got %d bytes and error %v, want %s", len(b), err, tt.want)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			r, back := cell.NewReader(b[1:]), cell.Cell{}
			if !r.Next(&back) || r.Left() != 0 {
				t.Fatalf("read: %v, %d bytes left", r.Err(), r.Left())
			}
			if diff := cmp.Diff(c, back); diff != "" {
				t.Errorf("read back (-want +got):\n%s", diff)
			}
		})
	}
}

func TestNothingIsAllocated(t *testing.T) {
	c := put()
	block := make([]byte, 0, 1024)
	if n := testing.AllocsPerRun(100, func() {
		block = block[:0]
		for range 10 {
			block, _ = cell.Append(block, &c)
		}
		r := cell.NewReader(block)
		found := 0
		for back := (cell.Cell{}); r.Next(&back); {
			found++
		}
		if found != 10 {
			t.Fatalf("found %d cells, want 10", found)
		}
	}); n != 0 {
		t.Errorf("encoding and decoding allocated %v times", n)
	}
}

// FuzzReader: any block is read to its end or to an error, and what was read encodes to the same bytes.
func FuzzReader(f *testing.F) {
	for _, tt := range encodings() {
		f.Add(decoded(f, tt.want))
	}
	f.Fuzz(func(t *testing.T, block []byte) {
		r := cell.NewReader(block)
		var back []byte
		for c := (cell.Cell{}); r.Next(&c); {
			if len(c.Row) > cell.MaxRow || len(c.Family) > cell.MaxFamily {
				return // readable, but nothing that is ever written
			}
			var err error
			if back, err = cell.Append(back, &c); err != nil {
				t.Fatal(err)
			}
		}
		if read := block[:len(block)-r.Left()]; !bytes.Equal(back, read) {
			t.Errorf("read\n%x, which encodes to\n%x", read, back)
		}
		if (r.Err() == nil) != (r.Left() == 0) {
			t.Errorf("error %v with %d bytes left", r.Err(), r.Left())
		}
	})
}

func BenchmarkReader(b *testing.B) {
	c := put()
	c.Value = make([]byte, 100)
	var block []byte
	for range 10 {
		block, _ = cell.Append(block, &c)
	}
	b.SetBytes(int64(len(block)))
	for b.Loop() {
		r := cell.NewReader(block)
		for back := (cell.Cell{}); r.Next(&back); {
		}
	}
}
