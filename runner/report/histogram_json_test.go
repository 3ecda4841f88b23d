package report

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

func roundTripHistogram(t *testing.T, h *Histogram) string {
	t.Helper()
	data, err := json.Marshal(h)
	if err != nil {
		t.Fatal(err)
	}
	got := new(Histogram)
	if err := json.Unmarshal(data, got); err != nil {
		t.Fatalf("%s: %v", data, err)
	}
	if !got.Equal(h) {
		t.Errorf("%s decodes to something else", data)
	}
	again, err := json.Marshal(got)
	if err != nil || string(again) != string(data) {
		t.Errorf("encoded again: %s, %v, before %s", again, err, data)
	}
	return string(data)
}

func TestHistogramRoundTrip(t *testing.T) {
	for name, draw := range distributions() {
		t.Run(name, func(t *testing.T) {
			for scale := MinScale; scale <= MaxScale; scale++ {
				h := NewHistogram(scale)
				random := rand.New(rand.NewPCG(31, uint64(scale)))
				for range 3000 {
					h.Record(draw(random))
				}
				roundTripHistogram(t, h)
			}
		})
	}
}

func TestHistogramText(t *testing.T) {
	for name, tc := range map[string]struct {
		values []int64
		want   string
	}{
		"empty":   {nil, `{"s":5,"n":0,"sum":0,"min":0,"max":0}`},
		"zeros":   {[]int64{0, 0}, `{"s":5,"n":2,"z":2,"sum":0,"min":0,"max":0}`},
		"one":     {[]int64{1}, `{"s":5,"n":1,"sum":1,"min":1,"max":1,"b":"AAE"}`},
		"two":     {[]int64{2}, `{"s":5,"n":1,"sum":2,"min":2,"max":2,"b":"IAE"}`},
		"a gap":   {[]int64{1, 2}, `{"s":5,"n":2,"sum":3,"min":1,"max":2,"b":"AAEAHwE"}`},
		"largest": {[]int64{math.MaxInt64}, `{"s":5,"n":1,"sum":9223372036854775807,"min":9223372036854775807,"max":9223372036854775807,"b":"4A8B"}`},
	} {
		t.Run(name, func(t *testing.T) {
			h := NewHistogram(5)
			for _, v := range tc.values {
				h.Record(v)
			}
			if got := roundTripHistogram(t, h); got != tc.want {
				t.Errorf("got  %s\nwant %s", got, tc.want)
			}
		})
	}
}

func TestHistogramIsDeflatedWhereShorter(t *testing.T) {
	h := NewHistogram(DefaultScale)
	for e := range 20 {
		for j := range 400 {
			h.Record(1<<(e+20) + int64(j)<<(e+11))
		}
	}
	if text := roundTripHistogram(t, h); !strings.Contains(text, `"c":`) {
		t.Errorf("not deflated: %s", text)
	}
}

// packed makes the buckets' text from the numbers in it.
func packed(numbers ...uint64) string {
	var out []byte
	for _, n := range numbers {
		out = binary.AppendUvarint(out, n)
	}
	return base64.RawStdEncoding.EncodeToString(out)
}

func deflated(t *testing.T, data []byte) string {
	t.Helper()
	out, err := deflate(data)
	if err != nil {
		t.Fatal(err)
	}
	return base64.RawStdEncoding.EncodeToString(out)
}

func TestHistogramUnmarshalRefuses(t *testing.T) {
	for name, data := range map[string]string{
		"no object":               `7`,
		"scale below":             `{"s":-1,"n":0,"sum":0,"min":0,"max":0}`,
		"scale above":             `{"s":9,"n":0,"sum":0,"min":0,"max":0}`,
		"negative count":          `{"s":5,"n":-1,"sum":0,"min":0,"max":0}`,
		"negative zeros":          `{"s":5,"n":1,"z":-1,"sum":1,"min":1,"max":1,"b":"` + packed(0, 2) + `"}`,
		"negative sum":            `{"s":5,"n":1,"z":1,"sum":-1,"min":0,"max":0}`,
		"negative min":            `{"s":5,"n":1,"z":1,"sum":0,"min":-1,"max":0}`,
		"max below min":           `{"s":5,"n":1,"sum":2,"min":2,"max":1,"b":"` + packed(32, 1) + `"}`,
		"count too large":         `{"s":5,"n":2,"sum":2,"min":1,"max":1,"b":"` + packed(0, 1) + `"}`,
		"count too small":         `{"s":5,"n":1,"sum":1,"min":1,"max":1,"b":"` + packed(0, 2) + `"}`,
		"sum too small":           `{"s":5,"n":2,"sum":1,"min":1,"max":2,"b":"` + packed(0, 1, 0, 31, 1) + `"}`,
		"sum too large":           `{"s":5,"n":2,"sum":5,"min":1,"max":2,"b":"` + packed(0, 1, 0, 31, 1) + `"}`,
		"min elsewhere":           `{"s":5,"n":1,"sum":2,"min":2,"max":2,"b":"` + packed(0, 1) + `"}`,
		"max elsewhere":           `{"s":5,"n":2,"sum":4,"min":1,"max":3,"b":"` + packed(0, 1, 0, 31, 1) + `"}`,
		"max without values":      `{"s":5,"n":0,"sum":0,"min":0,"max":4}`,
		"zero min without zeros":  `{"s":5,"n":1,"sum":1,"min":0,"max":1,"b":"` + packed(0, 1) + `"}`,
		"zeros with positive min": `{"s":5,"n":2,"z":1,"sum":2,"min":1,"max":1,"b":"` + packed(0, 1) + `"}`,
		"zero max with buckets":   `{"s":5,"n":2,"z":1,"sum":0,"min":0,"max":0,"b":"` + packed(0, 1) + `"}`,
		"positive max of zeros":   `{"s":5,"n":1,"z":1,"sum":0,"min":0,"max":3}`,
		"first bucket too far":    `{"s":0,"n":1,"sum":1,"min":1,"max":1,"b":"` + packed(64, 1) + `"}`,
		"bucket too far":          `{"s":0,"n":2,"sum":2,"min":1,"max":1,"b":"` + packed(63, 1, 1) + `"}`,
		"gap too far":             `{"s":0,"n":1,"sum":1,"min":1,"max":1,"b":"` + packed(0, 1, 0, 64) + `"}`,
		"gap of 2^63":             `{"s":0,"n":1,"sum":1,"min":1,"max":1,"b":"` + packed(0, 1, 0, 1<<63) + `"}`,
		"count of 2^63":           `{"s":0,"n":1,"sum":1,"min":1,"max":1,"b":"` + packed(0, 1<<63) + `"}`,
		"counts overflow":         `{"s":0,"n":1,"sum":1,"min":1,"max":1,"b":"` + packed(0, maxInt64, maxInt64, 3) + `"}`,
		"gap cut":                 `{"s":0,"n":1,"sum":1,"min":1,"max":1,"b":"` + packed(0, 1, 0) + `"}`,
		"number cut":              `{"s":0,"n":1,"sum":1,"min":1,"max":1,"b":"AIA"}`,
		"first number cut":        `{"s":0,"n":1,"sum":1,"min":1,"max":1,"b":"gA"}`,
		"no base64":               `{"s":0,"n":1,"sum":1,"min":1,"max":1,"b":"?"}`,
		"no base64 deflated":      `{"s":0,"n":1,"sum":1,"min":1,"max":1,"c":"?"}`,
		"not deflated":            `{"s":0,"n":1,"sum":1,"min":1,"max":1,"c":"////"}`,
		"both":                    `{"s":0,"n":1,"sum":1,"min":1,"max":1,"b":"AAE","c":"AAE"}`,
		"deflated bomb":           `{"s":0,"n":1,"sum":1,"min":1,"max":1,"c":"` + deflated(t, make([]byte, 1<<20)) + `"}`,
	} {
		t.Run(name, func(t *testing.T) {
			h := NewHistogram(3)
			if err := json.Unmarshal([]byte(data), h); err == nil {
				t.Error("was decoded")
			}
			if h.Scale() != 3 {
				t.Error("a refused text changed the histogram")
			}
		})
	}
}

func FuzzHistogramUnmarshal(f *testing.F) {
	for _, values := range [][]int64{{}, {0}, {1, 2}, {5, 0, 1 << 40, math.MaxInt64 >> 2}} {
		h := NewHistogram(4)
		for _, v := range values {
			h.Record(v)
		}
		data, err := json.Marshal(h)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		h := new(Histogram)
		if json.Unmarshal(data, h) != nil || h.bounds == nil {
			return
		}
		roundTripHistogram(t, h)
		for _, q := range testQuantiles() {
			if v := h.Quantile(q); v < h.Min() || v > h.Max() {
				t.Errorf("quantile %v is %d, outside %d..%d", q, v, h.Min(), h.Max())
			}
		}
		c := h.Clone()
		c.Record(12345)
		if err := c.Merge(h); err == nil {
			roundTripHistogram(t, c)
		}
	})
}
