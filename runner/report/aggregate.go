package report

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
)

// Stat is one figure over the repeats of a step.
type Stat struct {
	Name string  `json:"name"` // of the Figure, with its unit
	N    int     `json:"n"`    // repeats that have the figure
	Mean float64 `json:"mean"`
	Min  float64 `json:"min"`
	Max  float64 `json:"max"`
	// StdDev is the sample standard deviation, with n-1; absent for a single repeat, which has no spread.
	StdDev *float64 `json:"stdDev,omitempty"`
	// CV is the coefficient of variation, StdDev over Mean; absent where StdDev is, and for a mean of zero.
	CV *float64 `json:"cv,omitempty"`
}

// Aggregate is a step over its repeats.
type Aggregate struct {
	Repeats int    `json:"repeats"`
	Stats   []Stat `json:"stats"` // in the order of Merged.Figures
	// Pooled is the distribution of all operations of all repeats together. Its quantiles are those of the merged
	// histograms and in general differ from the means of the repeats' quantiles in Stats.
	Pooled *Latency `json:"pooled,omitempty"`
	// PooledIntended is the same of the intended latencies, with a rate.
	PooledIntended *Latency `json:"pooledIntended,omitempty"`
	// Parts are the distributions of a step that mixes kinds of operations, by their names.
	Parts []PooledPart `json:"parts,omitempty"`
}

// PooledPart is what all repeats recorded under one name of a step that mixes kinds of operations.
type PooledPart struct {
	Name           string   `json:"name"` // as in MergedPart
	Pooled         *Latency `json:"pooled,omitempty"`
	PooledIntended *Latency `json:"pooledIntended,omitempty"`
}

// AggregateRepeats makes mean and spread of the results of a step's repeats. It refuses an empty list, and histograms
// whose sums do not fit.
func AggregateRepeats(repeats []*Merged) (*Aggregate, error) {
	if len(repeats) == 0 {
		return nil, errors.New("aggregating repeats: there is none")
	}
	values := make(map[string][]float64)
	var pooled, intended pool
	parts := make(map[string]*[2]pool)
	for i, m := range repeats {
		for _, f := range m.Figures() {
			values[f.Name] = append(values[f.Name], f.Value)
		}
		err := errors.Join(pooled.add(m.Histogram), intended.add(m.IntendedHistogram))
		for _, p := range m.Parts {
			if parts[p.Name] == nil {
				parts[p.Name] = new([2]pool)
			}
			err = errors.Join(err, parts[p.Name][0].add(p.Histogram), parts[p.Name][1].add(p.IntendedHistogram))
		}
		if err != nil {
			return nil, fmt.Errorf("pooling the latencies of repeat %d: %w", i+1, err)
		}
	}
	a := &Aggregate{Repeats: len(repeats), Stats: []Stat{}, Pooled: pooled.latency(), PooledIntended: intended.latency()}
	a.addStats(values, figureNames(), "")
	for _, name := range slices.SortedFunc(maps.Keys(parts), compareParts) {
		a.addStats(values, partFigureNames(), FigurePrefix(name)+".")
		a.Parts = append(a.Parts, PooledPart{name, parts[name][0].latency(), parts[name][1].latency()})
	}
	return a, nil
}

// addStats adds the figures of some names that there are values of.
func (a *Aggregate) addStats(values map[string][]float64, names []string, prefix string) {
	for _, name := range names {
		if v := values[prefix+name]; len(v) > 0 {
			a.Stats = append(a.Stats, statOf(prefix+name, v))
		}
	}
}

// pool is a histogram over repeats, which is there once there is something in it.
type pool struct{ sum *Histogram }

func (p *pool) add(h *Histogram) error { return addHistogram(&p.sum, h) }

func (p *pool) latency() *Latency { return LatencyOf(p.sum) }

// statOf needs at least one value. The deviation is made in a second pass, which is exact where the difference of large
// sums of squares is not.
func statOf(name string, values []float64) Stat {
	s := Stat{Name: name, N: len(values), Min: values[0], Max: values[0]}
	sum := 0.0
	for _, v := range values {
		sum += v
		s.Min, s.Max = min(s.Min, v), max(s.Max, v)
	}
	s.Mean = sum / float64(s.N)
	if s.N < 2 {
		return s
	}
	squares := 0.0
	for _, v := range values {
		squares += float64((v - s.Mean) * (v - s.Mean)) // not fused, so that every processor gives the same
	}
	deviation := math.Sqrt(squares / float64(s.N-1))
	s.StdDev = &deviation
	s.CV = quotient(deviation, s.Mean)
	return s
}
