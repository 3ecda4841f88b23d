package dfsio_test

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"testing"

	"github.com/hadoop-bench/operator/runner/dfsio"
)

// TestGeneratorIsStable pins the content: data written by one release must check in the next.
func TestGeneratorIsStable(t *testing.T) {
	tests := map[string]struct {
		seed   int64
		file   int32
		offset int64
		want   string
	}{
		"file 0":           {1, 0, 0, "ca351db83b614a194834f335"},
		"file 1":           {1, 1, 0, "a0dab6f033ae6a47091b423e"},
		"seed 2":           {2, 0, 0, "fa8faa8255b810fb124ac7ef"},
		"negative seed":    {-1, 0, 0, "4a5bbdb571962fd596d25007"},
		"far, not aligned": {1, 0, 1<<40 + 3, "2c75ae2c2ced42a7dde36c21"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			buf := make([]byte, 12)
			dfsio.NewGenerator(tt.seed, tt.file).Fill(buf, tt.offset)
			if got := hex.EncodeToString(buf); got != tt.want {
				t.Errorf("bytes %s, want %s", got, tt.want)
			}
		})
	}
}

// TestFillIsAFunctionOfTheOffset compares every short part with the whole.
func TestFillIsAFunctionOfTheOffset(t *testing.T) {
	for name, g := range map[string]dfsio.Generator{"Random": dfsio.NewGenerator(7, 3), "Zero": dfsio.ZeroGenerator()} {
		t.Run(name, func(t *testing.T) {
			whole := make([]byte, 160)
			g.Fill(whole, 0)
			for offset := range len(whole) {
				for length := 0; offset+length <= len(whole); length++ {
					part := bytes.Repeat([]byte{0xaa}, length)
					g.Fill(part, int64(offset))
					if !bytes.Equal(part, whole[offset:offset+length]) {
						t.Fatalf("%d bytes from %d differ from the whole", length, offset)
					}
					if at := g.Check(part, int64(offset)); at != -1 {
						t.Fatalf("Check of %d bytes from %d = %d, want -1", length, offset, at)
					}
				}
			}
		})
	}
}

func TestCheckFindsTheFirstDifference(t *testing.T) {
	for name, g := range map[string]dfsio.Generator{"Random": dfsio.NewGenerator(7, 3), "Zero": dfsio.ZeroGenerator()} {
		t.Run(name, func(t *testing.T) {
			for offset := int64(0); offset < 9; offset++ {
				buf := make([]byte, 70)
				g.Fill(buf, offset)
				for i := range buf {
					buf[i] ^= 0x10
					buf[len(buf)-1] ^= 1
					if at := g.Check(buf, offset); at != i {
						t.Fatalf("Check from %d = %d, want %d", offset, at, i)
					}
					buf[len(buf)-1] ^= 1
					buf[i] ^= 0x10
				}
			}
		})
	}
}

func TestRandomContentDoesNotCompress(t *testing.T) {
	data := make([]byte, 1<<20)
	dfsio.NewGenerator(1, 0).Fill(data, 0)
	// The second half of the input is the beginning of another file: files must not repeat one another either.
	dfsio.NewGenerator(1, 1).Fill(data[1<<19:], 0)
	var packed bytes.Buffer
	w, err := flate.NewWriter(&packed, flate.BestCompression)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if packed.Len() < len(data) {
		t.Errorf("flate makes %d bytes of %d", packed.Len(), len(data))
	}
	var counts [256]int
	for _, b := range data {
		counts[b]++
	}
	// 4096 are expected of each; seven standard deviations are 447.
	for b, n := range counts {
		if n < 4096-447 || n > 4096+447 {
			t.Errorf("byte %d occurs %d times in %d", b, n, len(data))
		}
	}
}

// TestBitsAreBalanced looks at each bit of a word and at its neighbour's: half of each must be set, half must change.
func TestBitsAreBalanced(t *testing.T) {
	const words = 1 << 16
	data := make([]byte, 8*words)
	dfsio.NewGenerator(42, 1).Fill(data, 0)
	var set, changed [64]int
	last := uint64(0)
	for i := range words {
		word := binary.LittleEndian.Uint64(data[8*i:])
		for bit := range 64 {
			set[bit] += int(word >> bit & 1)
			changed[bit] += int((word ^ last) >> bit & 1)
		}
		last = word
	}
	// Seven standard deviations of a fair coin.
	const tolerance = 7 * 128
	for bit := range 64 {
		if d := set[bit] - words/2; d < -tolerance || d > tolerance {
			t.Errorf("bit %d is set in %d of %d words", bit, set[bit], words)
		}
		if d := changed[bit] - words/2; d < -tolerance || d > tolerance {
			t.Errorf("bit %d changes %d times in %d words", bit, changed[bit], words)
		}
	}
}

func TestFilesAndSeedsDiffer(t *testing.T) {
	seen := map[string]string{}
	for seed := int64(-2); seed < 3; seed++ {
		for file := int32(0); file < 200; file++ {
			buf := make([]byte, 16)
			dfsio.NewGenerator(seed, file).Fill(buf, 0)
			what := fmt.Sprintf("seed %d file %d", seed, file)
			if other, ok := seen[string(buf)]; ok {
				t.Fatalf("%s begins like %s", what, other)
			}
			seen[string(buf)] = what
		}
	}
}

func FuzzCheck(f *testing.F) {
	f.Add(int64(1), int32(0), int64(0), uint16(100), uint16(3))
	f.Add(int64(-9), int32(77), int64(1<<50+5), uint16(33), uint16(32))
	f.Fuzz(func(t *testing.T, seed int64, file int32, offset int64, length, flip uint16) {
		if offset < 0 || offset > 1<<62 {
			t.Skip("offsets of files only")
		}
		g := dfsio.NewGenerator(seed, file)
		buf := make([]byte, length)
		g.Fill(buf, offset)
		want := -1
		if flip < length {
			buf[flip] ^= 0x80
			want = int(flip)
		}
		if got := g.Check(buf, offset); got != want {
			t.Errorf("Check = %d, want %d", got, want)
		}
	})
}

func BenchmarkFill(b *testing.B) {
	buf := make([]byte, 1_000_000)
	g := dfsio.NewGenerator(1, 0)
	b.SetBytes(int64(len(buf)))
	for offset := int64(0); b.Loop(); offset += int64(len(buf)) {
		g.Fill(buf, offset)
	}
}

func BenchmarkCheck(b *testing.B) {
	buf := make([]byte, 1_000_000)
	g := dfsio.NewGenerator(1, 0)
	g.Fill(buf, 0)
	b.SetBytes(int64(len(buf)))
	for b.Loop() {
		if g.Check(buf, 0) != -1 {
			b.Fatal("differs")
		}
	}
}
