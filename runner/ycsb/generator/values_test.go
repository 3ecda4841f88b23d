package generator_test

import (
	"bytes"
	"strings"
	"sync"
	"testing"

	"github.com/hadoop-bench/operator/runner/ycsb/generator"
)

// Every length is filled, to its end and no further, with bytes of the alphabet: those from which the last bits of the
// group's masks follow.
func TestFillFillsAll(t *testing.T) {
	masks := [6]byte{31, 63, 95, 31, 63, 95}
	for length := range 64 {
		b := bytes.Repeat([]byte{0xff}, 64)
		generator.Fill(b[:length], generator.NewRandom(1, uint64(length)))
		for i, c := range b {
			if i >= length && c != 0xff {
				t.Fatalf("length %d: byte %d was written", length, i)
			}
			if i < length && (c-' ')&^masks[i%6] != 0 {
				t.Fatalf("length %d: byte %d is %#x", length, i, c)
			}
		}
	}
}

func TestFillIsUniform(t *testing.T) {
	r, b := generator.NewRandom(4, 4), make([]byte, 60)
	var counts [6][256]int
	const n = 20_000
	for range n {
		generator.Fill(b, r)
		for i, c := range b {
			counts[i%6][c]++
		}
	}
	for i, size := range []int{32, 64, 64, 32, 64, 64} {
		kinds := 0
		for _, count := range counts[i] {
			if count == 0 {
				continue
			}
			kinds++
			if want := n * 10 / size; count < want*9/10 || count > want*11/10 {
				t.Errorf("byte %d of a group: %d of one kind, want about %d", i, count, want)
			}
		}
		if kinds != size {
			t.Errorf("byte %d of a group has %d kinds, want %d", i, kinds, size)
		}
	}
}

func histogramOf(t *testing.T, text string) *generator.Histogram {
	t.Helper()
	h, err := generator.ReadHistogram(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func TestHistogramRefusesByLine(t *testing.T) {
	for _, test := range []struct{ name, text, want string }{
		{"empty", "", "no bucket has a count"},
		{"no counts", "BlockSize\t10\n0\t0\n", "no bucket has a count"},
		{"no block size", "0\t5\n", "line 1: the first line"},
		{"a block size of 0", "BlockSize\t0\n", "line 1: the first line"},
		{"no tab", "BlockSize 10\n", "line 1: \"BlockSize 10\" is not two columns"},
		{"a bucket left out", "BlockSize\t10\n0\t1\n2\t1\n", "line 3: bucket \"2\" stands where bucket 1 is due"},
		{"a negative count", "BlockSize\t10\n0\t-1\n", "line 2: \"-1\" is not a count"},
		{"counts beyond an int64", "BlockSize\t1\n0\t9223372036854775807\n1\t1\n", "line 3: the counts' sum"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if _, err := generator.ReadHistogram(strings.NewReader(test.text)); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want one with %q", err, test.want)
			}
		})
	}
}

func FuzzReadHistogram(f *testing.F) {
	f.Add("BlockSize\t10\n0\t1\n1\t2\n")
	f.Add("BlockSize\t8796093022207\n0\t9223372036854775807\n")
	f.Fuzz(func(t *testing.T, text string) {
		h, err := generator.ReadHistogram(strings.NewReader(text))
		if err != nil {
			return
		}
		r := generator.NewRandom(1, 1)
		for range 10 {
			if n := h.Next(r); n < 1 || n > h.Max() {
				t.Errorf("made %d, beyond 1 to %d", n, h.Max())
			}
		}
	})
}

func TestAcknowledgedInOrder(t *testing.T) {
	a := generator.NewAcknowledged(4)
	for range 4 {
		if _, err := a.Next(); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := a.Next(); err != generator.ErrWindow {
		t.Errorf("a fifth number: error %v, want ErrWindow", err)
	}
	a.Acknowledge(2)
	a.Acknowledge(1)
	if a.Limit() != 0 || a.Readable(1) {
		t.Errorf("limit %d before 0 is acknowledged", a.Limit())
	}
	a.Fail(0)
	if a.Limit() != 3 || a.Readable(0) || !a.Readable(1) || !a.Readable(2) || a.Readable(3) || a.Readable(-1) {
		t.Errorf("limit %d, readable %t %t %t", a.Limit(), a.Readable(0), a.Readable(1), a.Readable(2))
	}
	if n, err := a.Next(); n != 4 || err != nil {
		t.Errorf("next is %d, %v, want 4", n, err)
	}
}

func TestAcknowledgedLosesNothing(t *testing.T) {
	const threads, each = 8, 20_000
	a := generator.NewAcknowledged(1024)
	var all sync.WaitGroup
	for thread := range threads {
		all.Go(func() {
			for i := 0; i < each; {
				n, err := a.Next()
				if err != nil {
					continue
				}
				if i++; (i+thread)%10 == 0 {
					a.Fail(n)
				} else {
					a.Acknowledge(n)
				}
			}
		})
	}
	all.Wait()
	readable := 0
	for n := range int64(threads * each) {
		if a.Readable(n) {
			readable++
		}
	}
	if a.Limit() != threads*each || readable != threads*each*9/10 {
		t.Errorf("limit %d, readable %d", a.Limit(), readable)
	}
}
