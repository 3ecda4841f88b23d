package generator_test

import (
	"bufio"
	"encoding/hex"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/hadoop-bench/operator/runner/ycsb/generator"
)

// golden returns the rows of a file that YCSB's own classes made; its first lines say how.
func golden(t *testing.T, name string) [][]string {
	t.Helper()
	file, err := os.Open(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var rows [][]string
	for lines := bufio.NewScanner(file); lines.Scan(); {
		if line := lines.Text(); !strings.HasPrefix(line, "#") {
			rows = append(rows, strings.Split(line, " "))
		}
	}
	if len(rows) == 0 {
		t.Fatalf("%s has no rows", name)
	}
	return rows
}

func integer(t *testing.T, text string) int64 {
	t.Helper()
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func float(t *testing.T, text string) float64 {
	t.Helper()
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestFNV64IsYCSBs(t *testing.T) {
	for _, row := range golden(t, "fnv64.txt") {
		if got := generator.FNV64(integer(t, row[0])); got != integer(t, row[1]) {
			t.Errorf("FNV64(%s) = %d, want %s", row[0], got, row[1])
		}
	}
}

func TestZipfianIsYCSBs(t *testing.T) {
	for _, row := range golden(t, "zipfian.txt") {
		z := generator.NewZipfian(integer(t, row[0]))
		if got := z.At(float(t, row[1])); got != integer(t, row[2]) {
			t.Errorf("zipfian over %s at %s = %d, want %s", row[0], row[1], got, row[2])
		}
	}
}

func TestScrambledIsYCSBs(t *testing.T) {
	for _, row := range golden(t, "scrambled.txt") {
		s := generator.NewScrambled(integer(t, row[0]), integer(t, row[1]))
		if got := s.At(float(t, row[2])); got != integer(t, row[3]) {
			t.Errorf("scrambled zipfian from %s to %s at %s = %d, want %s", row[0], row[1], row[2], got, row[3])
		}
	}
}

// A million ranks that reach up to 10^10, where the last bits of the power decide.
func TestRanksBeforeScramblingAreYCSBs(t *testing.T) {
	want := map[string]string{}
	for _, row := range golden(t, "zipfian_million.txt") {
		want[row[0]] = row[1]
	}
	z := generator.NewScrambled(0, 1).Ranks()
	eta, alpha, zetan := z.Parameters()
	if eta != float(t, want["eta"]) || alpha != float(t, want["alpha"]) || zetan != float(t, want["zetan"]) {
		t.Errorf("eta %x, alpha %x, zetan %x, want %v", eta, alpha, zetan, want)
	}
	sum, hash := int64(0), uint64(0xCBF29CE484222325)
	for k := uint64(1); k <= 1_000_000; k++ {
		rank := z.At(float64((k*0x9E3779B97F4A7C15)>>11) * 0x1p-53)
		sum += rank
		hash = (hash ^ uint64(rank)) * 1099511628211
	}
	if sum != integer(t, want["sum"]) || int64(hash) != integer(t, want["hash"]) {
		t.Errorf("sum %d, hash %d, want %s, %s", sum, int64(hash), want["sum"], want["hash"])
	}
}

func TestExponentialIsYCSBs(t *testing.T) {
	for _, row := range golden(t, "exponential.txt") {
		g := generator.NewExponential(float(t, row[0]), float(t, row[1]))
		if got := g.At(float(t, row[2])); got != integer(t, row[3]) {
			t.Errorf("exponential %s %s at %s = %d, want %s", row[0], row[1], row[2], got, row[3])
		}
	}
}

func TestRandomBytesAreYCSBs(t *testing.T) {
	for _, row := range golden(t, "randombytes.txt") {
		group := generator.Group(uint32(integer(t, row[0])))
		var got [6]byte
		for i := range got {
			got[i] = byte(group >> (8 * i))
		}
		if hex.EncodeToString(got[:]) != row[1] {
			t.Errorf("bytes of %s = %x, want %s", row[0], got, row[1])
		}
	}
}

func TestIntegrityIsYCSBs(t *testing.T) {
	for _, row := range golden(t, "integrity.txt") {
		got := make([]byte, integer(t, row[0]))
		generator.Integrity(got, []byte(row[1]), []byte(row[2]))
		if string(got) != row[3] {
			t.Errorf("value of %s %s in %s bytes = %q, want %q", row[1], row[2], row[0], got, row[3])
		}
	}
}
