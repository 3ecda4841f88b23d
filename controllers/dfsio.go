package controllers

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hadoop-bench/operator/api/v1alpha1"
	"github.com/hadoop-bench/operator/runner/plan"
	"github.com/hadoop-bench/operator/runner/report"
)

// DFSIO is the Benchmark of DFSIORun.
type DFSIO struct{}

var _ Benchmark = DFSIO{}

// Kind implements Benchmark.
func (DFSIO) Kind() string { return "DFSIORun" }

// New implements Benchmark.
func (DFSIO) New() Run { return &v1alpha1.DFSIORun{} }

// Supports implements Benchmark.
func (DFSIO) Supports() Support {
	return Support{
		Engines: []v1alpha1.Engine{v1alpha1.EngineNative}, Clients: []v1alpha1.ClientKind{v1alpha1.ClientColinmarc}, KeepResults: true,
	}
}

func dfsioSpec(run Run) *v1alpha1.DFSIORunSpec {
	if r, ok := run.(*v1alpha1.DFSIORun); ok {
		return &r.Spec
	}
	return &v1alpha1.DFSIORunSpec{}
}

// Check implements Benchmark.
func (DFSIO) Check(run Run) []Problem {
	s := dfsioSpec(run)
	var out []Problem
	refuse := func(asked bool, field, val, remedy string) {
		if asked {
			out = append(out, notSupported(field, val, remedy))
		}
	}
	for i, t := range s.Tests {
		if t != v1alpha1.DFSIOWrite && t != v1alpha1.DFSIORead && t != v1alpha1.DFSIOClean {
			refuse(true, fmt.Sprintf("tests[%d]", i), string(t), "use write, read or clean")
		}
		if t == v1alpha1.DFSIOClean && i != len(s.Tests)-1 {
			out = append(out, invalid(fmt.Sprintf("tests[%d]", i), t, "make clean the last test: it removes the files"))
		}
		if slices.Contains(s.Tests[:i], t) {
			out = append(out, invalid(fmt.Sprintf("tests[%d]", i), t, "name each test once; spec.repeats measures it more often"))
		}
	}
	if w := slices.Index(s.Tests, v1alpha1.DFSIOWrite); w > 0 {
		out = append(out, invalid("tests", s.Tests, "make write the first test: the others need its files"))
	}
	refuse(s.SkipSize != "", "skipSize", s.SkipSize, "remove it")
	refuse(s.Compression != "", "compression", s.Compression, "remove it")
	refuse(s.StoragePolicy != "", "storagePolicy", s.StoragePolicy, "remove it")
	refuse(s.ErasureCodingPolicy != "", "erasureCodingPolicy", s.ErasureCodingPolicy, "remove it")
	refuse(s.Sync != "" && s.Sync != v1alpha1.SyncNone, "sync", string(s.Sync), "use None")
	refuse(value(s.UpstreamCompatible, false), "upstreamCompatible", "true", "remove it")
	refuse(s.Data != nil && value(s.Data.CompressRatioPercent, 100) != 100, "data.compressRatioPercent", "compressible data", "remove it")
	if s.BaseDir != "" {
		for _, bad := range plan.BadBaseDirs([]string{s.BaseDir}) {
			out = append(out, invalid("baseDir", bad.Dir, bad.Remedy))
		}
	}
	n := value(s.NrFiles, 1)
	if p := s.Parallelism; p != nil {
		refuse(*p < n, "parallelism", fmt.Sprintf("%d with nrFiles %d", *p, n), "remove it, or set it to nrFiles")
	}
	return append(out, checkSizes(s)...)
}

func checkSizes(s *v1alpha1.DFSIORunSpec) []Problem {
	var out []Problem
	if size, err := parseSize(orDefault(s.Size, "1MB"), "MB"); err != nil {
		out = append(out, invalid("size", s.Size, err.Error()))
	} else if size == 0 {
		out = append(out, invalid("size", s.Size, "give a size above zero"))
	}
	if s.BlockSize == "" {
		return out
	}
	if b, err := parseSize(s.BlockSize, "B"); err != nil {
		out = append(out, invalid("blockSize", s.BlockSize, err.Error()))
	} else if b == 0 || b%512 != 0 {
		out = append(out, invalid("blockSize", s.BlockSize, "give a multiple of 512 bytes, the checksum's chunk"))
	}
	return out
}

// parseSize reads TestDFSIO's grammar: digits, then B, KB, MB, GB or TB in any case, powers of 1024; unit is that of a
// number without one.
func parseSize(s, unit string) (int64, error) {
	digits := strings.TrimRight(s, "bBkKmMgGtT")
	if u := strings.ToUpper(s[len(digits):]); u != "" {
		unit = u
	}
	shift := map[string]uint{"B": 0, "KB": 10, "MB": 20, "GB": 30, "TB": 40}
	sh, ok := shift[unit]
	if !ok {
		return 0, fmt.Errorf("unit %q is none of B, KB, MB, GB, TB", unit)
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || n < 0 {
		return 0, fmt.Errorf("%q does not begin with a whole number", s)
	}
	if n > math.MaxInt64>>sh {
		return 0, fmt.Errorf("%q is more than an int64 holds", s)
	}
	return n << sh, nil
}

// dfsioPlan is the plan's part with every default filled in.
func dfsioPlan(run Run) *plan.DFSIO {
	s := dfsioSpec(run)
	size, _ := parseSize(orDefault(s.Size, "1MB"), "MB") // Check has refused what does not parse
	blockSize, _ := parseSize(orDefault(s.BlockSize, "0"), "B")
	d := &plan.DFSIO{
		BaseDir:     orDefault(s.BaseDir, "/benchmarks/TestDFSIO/"+run.GetNamespace()+"/"+run.GetName()),
		NrFiles:     value(s.NrFiles, 1),
		Size:        size,
		BufferSize:  int64(value(s.BufferSize, 1000000)),
		Replication: value(s.Replication, 0),
		BlockSize:   blockSize,
		Pattern:     string(v1alpha1.PatternRandom),
		Client:      orDefault(string(s.Client), string(v1alpha1.ClientColinmarc)),
	}
	if s.Data != nil {
		d.Pattern = orDefault(string(s.Data.Pattern), d.Pattern)
		d.Seed = value(s.Data.Seed, 0)
	}
	for _, t := range s.Tests {
		d.Tests = append(d.Tests, string(t))
	}
	return d
}

// Options implements Benchmark.
func (DFSIO) Options(run Run) map[string]string {
	s, d := dfsioSpec(run), dfsioPlan(run)
	out := map[string]string{
		"tests":        strings.Join(d.Tests, ","),
		"nrFiles":      strconv.Itoa(int(d.NrFiles)),
		"parallelism":  strconv.Itoa(int(d.NrFiles)),
		"size":         strconv.FormatInt(d.Size, 10) + "B",
		"bufferSize":   strconv.FormatInt(d.BufferSize, 10),
		"baseDir":      d.BaseDir,
		"data.pattern": d.Pattern,
		"data.seed":    strconv.FormatInt(d.Seed, 10),
		"verify":       strconv.FormatBool(value(s.Verify, false)),
		"sync":         string(v1alpha1.SyncNone),
	}
	if d.Replication > 0 {
		out["replication"] = strconv.Itoa(int(d.Replication))
	}
	if d.BlockSize > 0 {
		out["blockSize"] = strconv.FormatInt(d.BlockSize, 10) + "B"
	}
	return out
}

// Steps implements Benchmark. Files are verified once, after the last measurement and before they are removed.
func (DFSIO) Steps(run Run) []Step {
	s := dfsioSpec(run)
	n := value(s.NrFiles, 1)
	var steps, last []Step
	for _, t := range s.Tests {
		if t == v1alpha1.DFSIOClean {
			last = append(last, Step{Name: string(t), Repeat: 1, Shards: 1})
			continue
		}
		steps = append(steps, Step{Name: string(t), Repeat: 1, Shards: n, Gated: true, Measured: true})
	}
	if value(s.Verify, false) {
		steps = append(steps, Step{Name: plan.StepVerify, Repeat: 1, Shards: n})
	}
	return append(steps, last...)
}

// Fill implements Benchmark.
func (DFSIO) Fill(run Run, p *plan.Plan) { p.DFSIO = dfsioPlan(run) }

// Headlines implements Benchmark.
func (DFSIO) Headlines(Run, string) []string { return []string{report.FigureAggregate} }

// Text implements Benchmark: a block of TestDFSIO_results.log, dated by the end of the measurement.
func (DFSIO) Text(_ Run, step Step, in report.MergeInput, merged *report.Merged) (string, error) {
	end := time.UnixMicro(merged.Times.LastEnd).UTC()
	t, err := report.DFSIOTextOf(step.Name, end, in, 0)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	if err := report.RenderTestDFSIO(&b, t); err != nil {
		return "", err
	}
	return b.String(), nil
}

// TextFile implements Benchmark: the name that TestDFSIO gives the file.
func (DFSIO) TextFile() string { return "TestDFSIO_results.log" }
