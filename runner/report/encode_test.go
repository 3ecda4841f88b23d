package report

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func mustEncode(t *testing.T, r *Report) []byte {
	t.Helper()
	data, err := Encode(r)
	if err != nil {
		t.Fatal(err)
	}
	if len(data) > MaxBytes {
		t.Fatalf("%d bytes", len(data))
	}
	return data
}

func failedReport() *Report {
	return &Report{Envelope: Envelope{
		Version: Version, Identity: identity(), Outcome: Failed, ExitCode: ExitTarget,
		Failure: &Failure{Reason: "TargetUnreachable", Message: "dial <nn:8020> & \"retry\"", Remedy: "check target.fs"},
	}}
}

func TestDecodeOfEncodeIsIdentity(t *testing.T) {
	preflight := &Report{
		Envelope: Envelope{Version: Version, Identity: identity(), Outcome: Complete},
		Body:     Body{Facts: map[string]string{"version": "3.5.0", "liveDataNodes": "3", "kanji": "漢字"}},
	}
	partial := fullReport()
	partial.Envelope.Outcome, partial.Envelope.ExitCode = Partial, ExitInterrupted
	partial.Envelope.Failure = &Failure{Reason: "Stopped", Message: "stop order"}
	for name, r := range map[string]*Report{
		"full": fullReport(), "mixed": mixedReport(3), "failed": failedReport(), "preflight": preflight, "partial": partial,
		"smallest": {Envelope: Envelope{Version: Version, Outcome: Complete}},
	} {
		t.Run(name, func(t *testing.T) {
			data := mustEncode(t, r)
			got, err := Decode(data)
			if err != nil {
				t.Fatalf("%v in %s", err, data)
			}
			if diff := cmp.Diff(r, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// What the bound is for: an hour of any latencies, a full series and a clock stay within it at the default scale.
func TestUsualReportsKeepTheirResolution(t *testing.T) {
	for name, draw := range distributions() {
		t.Run(name, func(t *testing.T) {
			r := fullReport()
			random := rand.New(rand.NewPCG(41, 42))
			h := NewHistogram(DefaultScale)
			for range 200_000 {
				h.Record(draw(random))
			}
			s := NewSeries(t0, DefaultSeriesMicros)
			for i := range int64(MaxBuckets) {
				s.Add(t0+i*60*second, 6_000_000_000+random.Int64N(1_000_000_000))
			}
			r.Body.Latency, r.Body.Series = h, s
			r.Body.Operations, r.Body.Bytes, r.Body.End = h.Count(), s.Total(), t0+3600*second
			got, err := Decode(mustEncode(t, r))
			if err != nil {
				t.Fatal(err)
			}
			if scale := got.Body.Latency.Scale(); scale != DefaultScale {
				t.Errorf("scale %d", scale)
			}
			if !got.Body.Latency.Equal(h) || got.Body.Series.Total() != s.Total() {
				t.Error("the histogram or the series' total changed")
			}
		})
	}
}

// fatReport is too big in every respect.
func fatReport() *Report {
	r := fullReport()
	random := rand.New(rand.NewPCG(51, 52))
	h := NewHistogram(MaxScale)
	for range 100_000 {
		h.Record(int64(math.Exp(random.Float64() * 30)))
	}
	r.Body.Latency = h
	r.Body.Operations = h.Count()
	r.Body.Errors = nil
	for i := range 60 {
		r.Body.Errors = append(r.Body.Errors, ErrorCount{
			Class: fmt.Sprintf("org.apache.hadoop.hdfs.server.namenode.Exception%02d", i), Count: int64(i + 1),
			First: strings.Repeat("große Fehler ", 30),
		})
	}
	return r
}

func TestEncodeSqueezes(t *testing.T) {
	r := fatReport()
	before, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	got, err := Decode(mustEncode(t, r))
	if err != nil {
		t.Fatal(err)
	}
	after, err := json.Marshal(r)
	if err != nil || string(before) != string(after) {
		t.Errorf("Encode changed the report: %v", err)
	}

	g, b := &got.Body, &r.Body
	if g.Operations != b.Operations || g.Bytes != b.Bytes || g.Start != b.Start || g.End != b.End {
		t.Error("a counter changed")
	}
	if h := g.Latency; h.Count() != b.Latency.Count() || h.Sum() != b.Latency.Sum() || h.Min() != b.Latency.Min() ||
		h.Max() != b.Latency.Max() {
		t.Error("an exact figure of the latency changed")
	}
	if g.Series.Total() != b.Series.Total() {
		t.Error("the series' total changed")
	}
	count := int64(0)
	for _, e := range g.Errors {
		count += e.Count
		if !utf8.ValidString(e.First) {
			t.Errorf("a text was cut within a character: %q", e.First)
		}
	}
	if count != 60*61/2 {
		t.Errorf("%d errors, want all %d", count, 60*61/2)
	}
	if diff := cmp.Diff(r.Envelope, got.Envelope); diff != "" {
		t.Errorf("the envelope changed (-want +got):\n%s", diff)
	}
}

// However much there is to say of however many kinds of operations, no counter is lost.
func TestEncodeSqueezesParts(t *testing.T) {
	r := mixed(9, 1e7, logUniform)
	for i := range r.Body.Parts {
		r.Body.Parts[i].Returns = Returns{{"OK", 1 << 40}, {"NOT_FOUND", 1 << 40}, {"UNEXPECTED_STATE", 1 << 40}}
	}
	r.Body.Errors = append(r.Body.Errors, fatReport().Body.Errors...)
	r.Body.Tried = 1 << 40
	got, err := Decode(mustEncode(t, r))
	if err != nil {
		t.Fatal(err)
	}
	sameCounters(t, r, got)
	t.Logf("scales: %d of a part, %d of all; %d classes of errors", got.Body.Parts[0].Latency.Scale(), got.Body.Latency.Scale(), len(got.Body.Errors))
}

// The order of losses: the series goes first, then the histogram, and texts stay whole as long as that is enough.
func TestEncodeGivesUpLeastFirst(t *testing.T) {
	random := rand.New(rand.NewPCG(61, 62))
	r := fullReport()
	for i := range int64(MaxBuckets) {
		r.Body.Series.Add(t0+i*200_000, 1_000_000_000_000_000_000/64)
	}
	r.Body.Bytes = r.Body.Series.Total()
	h := NewHistogram(6)
	for range 40_000 {
		h.Record(int64(math.Exp(random.Float64() * 30)))
	}
	r.Body.Latency = h
	r.Body.Operations = h.Count()
	got, err := Decode(mustEncode(t, r))
	if err != nil {
		t.Fatal(err)
	}
	if n := len(got.Body.Series.Amounts()); n >= 60 {
		t.Errorf("the series still has %d buckets", n)
	}
	if diff := cmp.Diff(r.Body.Errors, got.Body.Errors); diff != "" {
		t.Errorf("texts were cut (-want +got):\n%s", diff)
	}
}

func TestEncodeRefuses(t *testing.T) {
	many := fullReport()
	many.Body.Facts = map[string]string{}
	for i := range 1000 {
		many.Body.Facts[fmt.Sprintf("fact-%d", i)] = "x"
	}
	overflow := fullReport()
	overflow.Body.Latency.Record(math.MaxInt64)
	early := fullReport()
	early.Body.Series.Add(t0, math.MaxInt64)
	for name, tc := range map[string]struct {
		r    *Report
		want error
	}{
		"too many facts":     {many, ErrTooBig},
		"histogram overflow": {overflow, ErrOverflow},
		"series overflow":    {early, ErrOverflow},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := Encode(tc.r); !errors.Is(err, tc.want) {
				t.Errorf("got %v, want %v", err, tc.want)
			}
		})
	}
}

func TestEncodeCutsTexts(t *testing.T) {
	r := failedReport()
	r.Envelope.Failure.Message = strings.Repeat("ä", 400)
	r.Envelope.Failure.Remedy = "bad \xff byte" + strings.Repeat("b", 300)
	got, err := Decode(mustEncode(t, r))
	if err != nil {
		t.Fatal(err)
	}
	f := got.Envelope.Failure
	if want := strings.Repeat("ä", 254) + "..."; f.Message != want {
		t.Errorf("message of %d bytes: %q", len(f.Message), f.Message)
	}
	if len(f.Remedy) != MaxRemedy || !strings.HasPrefix(f.Remedy, "bad  byteb") {
		t.Errorf("remedy of %d bytes: %q", len(f.Remedy), f.Remedy)
	}
}

func TestShorten(t *testing.T) {
	for name, tc := range map[string]struct {
		text string
		n    int
		want string
	}{
		"fits":               {"abc", 3, "abc"},
		"dots":               {"abcdefghij", 8, "abcde..."},
		"no room for dots":   {"abcdefghij", 6, "abcdef"},
		"character is whole": {"aé€", 5, "aé"},
		"first does not fit": {"€", 2, ""},
		"none":               {"abc", 0, ""},
		"less than none":     {"abc", -1, ""},
		"not UTF-8":          {"a\xffb", 5, "ab"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := Shorten(tc.text, tc.n); got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

func TestFewerClasses(t *testing.T) {
	for name, tc := range map[string]struct {
		errors []ErrorCount
		want   []ErrorCount
		again  bool
	}{
		"none":              {nil, nil, false},
		"becomes other":     {[]ErrorCount{{"A", 5, "a"}, {"B", 2, "b"}}, []ErrorCount{{"A", 5, "a"}, {OtherErrors, 2, "b"}}, true},
		"joins other":       {[]ErrorCount{{OtherErrors, 2, "b"}, {"A", 5, "a"}}, []ErrorCount{{OtherErrors, 7, "b"}}, true},
		"other stays alone": {[]ErrorCount{{OtherErrors, 7, "b"}}, []ErrorCount{{OtherErrors, 7, "b"}}, false},
		"does not fit":      {[]ErrorCount{{OtherErrors, maxInt64, ""}, {"A", 5, "a"}}, []ErrorCount{{OtherErrors, maxInt64, ""}, {"A", 5, "a"}}, false},
	} {
		t.Run(name, func(t *testing.T) {
			r := &Report{Body: Body{Errors: tc.errors}}
			if again := fewerClasses(r); again != tc.again {
				t.Errorf("reported %v", again)
			}
			if diff := cmp.Diff(tc.want, r.Body.Errors); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// Every cut of a report is either no report or a truncated one with its identity.
func TestDecodeOfEveryCut(t *testing.T) {
	r := fullReport()
	r.Envelope.Outcome, r.Envelope.ExitCode = Partial, ExitInterrupted
	data := mustEncode(t, r)
	envelopeEnd := strings.Index(string(data), `,"body"`)
	for n := range data {
		got, err := Decode(data[:n])
		if n < envelopeEnd {
			if !errors.Is(err, ErrNotReport) || got != nil {
				t.Fatalf("cut at %d: %v, %v", n, got, err)
			}
			continue
		}
		if !errors.Is(err, ErrTruncated) || errors.Is(err, ErrNotReport) || errors.Is(err, ErrInvalid) {
			t.Fatalf("cut at %d: %v", n, err)
		}
		if diff := cmp.Diff(r.Envelope, got.Envelope); diff != "" {
			t.Fatalf("cut at %d: envelope (-want +got):\n%s", n, diff)
		}
	}
}

func TestDecodeRefuses(t *testing.T) {
	good := string(mustEncode(t, fullReport()))
	for name, tc := range map[string]struct {
		text    string
		want    error
		message string // part of the error
	}{
		"nothing":             {"", ErrNotReport, ""},
		"log line":            {"panic: runtime error", ErrNotReport, ""},
		"other JSON":          {`{"level":"info"}`, ErrNotReport, ""},
		"array":               {`[]`, ErrNotReport, ""},
		"envelope of text":    {`{"envelope":"x","body":{}}`, ErrNotReport, ""},
		"no version":          {`{"envelope":{},"body":{}}`, ErrNotReport, "version"},
		"other version":       {`{"envelope":{"v":1,"index":"seven"},"body":[]}`, ErrVersion, "1, this program reads 2"},
		"version is text":     {`{"envelope":{"v":"2"},"body":{}}`, ErrNotReport, ""},
		"field of wrong type": {`{"envelope":{"v":2,"index":"seven"},"body":{}}`, ErrNotReport, "index"},
		"too long":            {good + strings.Repeat(" ", maxInput), ErrNotReport, ""},
		"no body":             {`{"envelope":{"v":2,"outcome":"Complete"}}`, ErrInvalid, ""},
		"another key":         {`{"envelope":{"v":2,"outcome":"Complete"},"b":{}}`, ErrInvalid, "instead of body"},
		"body of text":        {`{"envelope":{"v":2,"outcome":"Complete"},"body":"x"}`, ErrInvalid, ""},
		"a third key":         {`{"envelope":{"v":2,"outcome":"Complete"},"body":{},"more":1}`, ErrInvalid, ""},
		"text after it":       {good + "bye", ErrInvalid, "more text"},
		"bad histogram":       {`{"envelope":{"v":2,"outcome":"Complete"},"body":{"h":1,"histograms":"////"}}`, ErrInvalid, "scale 15"},
		"no base64":           {`{"envelope":{"v":2,"outcome":"Complete"},"body":{"h":1,"histograms":"?"}}`, ErrInvalid, "base64"},
		"no such histogram":   {`{"envelope":{"v":2,"outcome":"Complete"},"body":{"histograms":"AQ"}}`, ErrInvalid, "bytes of none"},
		"too many parts":      {`{"envelope":{"v":2,"outcome":"Complete"},"body":{"parts":[` + strings.Repeat("{},", MaxParts) + `{}]}}`, ErrInvalid, "17 parts"},
		"a part of no name":   {`{"envelope":{"v":2,"outcome":"Complete"},"body":{"parts":[{}]}}`, ErrInvalid, "name"},
		"impossible figure":   {`{"envelope":{"v":2,"outcome":"Complete"},"body":{"ops":-1}}`, ErrInvalid, "negative"},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := Decode([]byte(tc.text))
			if !errors.Is(err, tc.want) || !strings.Contains(fmt.Sprint(err), tc.message) {
				t.Errorf("got %v, want %v with %q", err, tc.want, tc.message)
			}
			if (r != nil) != (tc.want == ErrInvalid) {
				t.Errorf("report %v", r)
			}
		})
	}
	if _, err := Decode([]byte(" " + good + "\n")); err != nil {
		t.Errorf("white space around it: %v", err)
	}
}

func FuzzDecode(f *testing.F) {
	for _, r := range []*Report{fullReport(), failedReport(), fatReport(), mixedReport(5)} {
		data, err := Encode(r)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
		f.Add(data[:len(data)/2])
	}
	f.Add([]byte(`{"envelope":{"v":2,"outcome":"Complete"},"body":{"facts":{"a":"<"}}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := Decode(data)
		if err != nil {
			for _, known := range []error{ErrNotReport, ErrVersion, ErrTruncated, ErrInvalid} {
				if errors.Is(err, known) {
					return
				}
			}
			t.Fatalf("an error of no known kind: %v", err)
		}
		whole, err := marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		text, err := Encode(r)
		if errors.Is(err, ErrTooBig) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		again, err := Decode(text)
		if err != nil {
			t.Fatalf("%v in %s", err, text)
		}
		if string(whole) == string(text) && !cmp.Equal(r, again) {
			t.Errorf("(-want +got):\n%s", cmp.Diff(r, again))
		}
		if twice, err := Encode(again); err != nil || string(twice) != string(text) {
			t.Errorf("encoded again: %v\n%s\nbefore\n%s", err, twice, text)
		}
	})
}
