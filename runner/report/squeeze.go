package report

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"
)

// Bounds of the texts in a report, in bytes. Encode cuts longer ones.
const (
	MaxMessage = 512 // Failure.Message
	MaxRemedy  = 256 // Failure.Remedy
	MaxFirst   = 200 // ErrorCount.First
)

// OtherErrors is the class under which errors are counted whose own class had to be left out for its size.
const OtherErrors = "Other"

// squeezes are the ways to make a report smaller, the least loss first. Each is repeated while it returns true; it
// returns false, and changes nothing, once it has no more to give.
func squeezes() []func(*Report) bool {
	return []func(*Report) bool{
		func(r *Report) bool { return coarserSeries(r, 15) },
		func(r *Report) bool { return coarserLatency(r, 3) },
		func(r *Report) bool { return shorterTexts(r, 64) },
		func(r *Report) bool { return coarserSeries(r, 6) },
		func(r *Report) bool { return coarserLatency(r, MinScale) },
		func(r *Report) bool { return shorterTexts(r, 16) },
		fewerClasses,
	}
}

// clone copies what Encode changes.
func clone(r *Report) *Report {
	c := *r
	if f := r.Envelope.Failure; f != nil {
		failure := *f
		c.Envelope.Failure = &failure
	}
	c.Body.Errors = slices.Clone(r.Body.Errors)
	c.Body.Facts = maps.Clone(r.Body.Facts)
	c.Body.Latency = r.Body.Latency.Clone()
	c.Body.Intended = r.Body.Intended.Clone()
	c.Body.Series = r.Body.Series.Clone()
	c.Body.Parts = slices.Clone(r.Body.Parts)
	for i := range c.Body.Parts {
		p := &c.Body.Parts[i]
		p.Latency, p.Intended = p.Latency.Clone(), p.Intended.Clone()
	}
	return &c
}

// coarserSeries halves the resolution of a series that has more buckets than least.
func coarserSeries(r *Report, least int) bool {
	s := r.Body.Series
	if s == nil || s.used() <= least {
		return false
	}
	s.double()
	return true
}

// coarserLatency halves the resolution of the finest sort of histograms, if it is finer than the scale least. Of equally
// fine ones those of parts go before those of all operations, and intended latencies before service times, so that no sort
// is more than twice as fine as another.
func coarserLatency(r *Report, least int) bool {
	b := &r.Body
	var intended, latency []*Histogram
	for i := range b.Parts {
		intended, latency = append(intended, b.Parts[i].Intended), append(latency, b.Parts[i].Latency)
	}
	var finest []*Histogram
	scale := least
	for _, sort := range [...][]*Histogram{intended, latency, {b.Intended}, {b.Latency}} {
		if s := finestScale(sort); s > scale {
			finest, scale = sort, s
		}
	}
	for _, h := range finest {
		if h != nil {
			h.Downscale(scale - 1)
		}
	}
	return scale > least
}

// finestScale is that of histograms some of which may be nil; -1 if all are.
func finestScale(hs []*Histogram) int {
	finest := -1
	for _, h := range hs {
		if h != nil {
			finest = max(finest, h.Scale())
		}
	}
	return finest
}

// shorterTexts halves the longest texts, down to least bytes.
func shorterTexts(r *Report, least int) bool {
	longest := longestText(r)
	if longest <= least {
		return false
	}
	n := max(longest/2, least)
	limitTexts(r, limits{message: n, remedy: n, first: n, fact: n})
	return true
}

// longestText is the length of the longest text that limitTexts can cut.
func longestText(r *Report) int {
	n := 0
	if f := r.Envelope.Failure; f != nil {
		n = max(len(f.Message), len(f.Remedy))
	}
	for _, e := range r.Body.Errors {
		n = max(n, len(e.First))
	}
	for _, v := range r.Body.Facts {
		n = max(n, len(v))
	}
	return n
}

// limits bounds texts in bytes; a fact's bound of 0 is none.
type limits struct{ message, remedy, first, fact int }

// limitTexts cuts longer texts and makes all of them valid UTF-8.
func limitTexts(r *Report, l limits) {
	if f := r.Envelope.Failure; f != nil {
		f.Message = Shorten(f.Message, l.message)
		f.Remedy = Shorten(f.Remedy, l.remedy)
	}
	for i := range r.Body.Errors {
		r.Body.Errors[i].First = Shorten(r.Body.Errors[i].First, l.first)
	}
	for k, v := range r.Body.Facts {
		r.Body.Facts[k] = Shorten(v, cmp.Or(l.fact, len(v)))
	}
}

// Shorten cuts a text to at most n bytes without cutting a character. A text that was cut ends in three dots if there is
// room for them. Bytes that are not UTF-8 are dropped.
func Shorten(text string, n int) string {
	const dots = "..."
	if !utf8.ValidString(text) {
		text = strings.ToValidUTF8(text, "")
	}
	if len(text) <= n {
		return text
	}
	end := max(n, 0)
	if end > 2*len(dots) {
		end -= len(dots)
	}
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	if n > 2*len(dots) {
		return text[:end] + dots
	}
	return text[:end]
}

// fewerClasses counts the rarest class of errors under OtherErrors.
func fewerClasses(r *Report) bool {
	own := slices.IndexFunc(r.Body.Errors, func(e ErrorCount) bool { return e.Class != OtherErrors })
	if own < 0 {
		return false
	}
	rarest, other := own, -1
	for i, e := range r.Body.Errors {
		switch {
		case e.Class == OtherErrors:
			other = i
		case e.Count < r.Body.Errors[rarest].Count:
			rarest = i
		}
	}
	if other < 0 {
		r.Body.Errors[rarest].Class = OtherErrors
		return true
	}
	sum, ok := addInt64(r.Body.Errors[other].Count, r.Body.Errors[rarest].Count)
	if !ok {
		return false
	}
	r.Body.Errors[other].Count = sum
	r.Body.Errors = slices.Delete(r.Body.Errors, rarest, rarest+1)
	return true
}
