package cli

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/hadoop-bench/operator/runner/report"
	"github.com/hadoop-bench/operator/runner/steps"
	"github.com/hadoop-bench/operator/runner/ycsb"
)

const (
	propertyWarmup = "hadoopbench.warmup"
	// longLoad is after which time YCSB says that preparing a workload takes long.
	longLoad = 2 * time.Second
	// disconnectTimeout bounds the end of connections.
	disconnectTimeout = 5 * time.Second
	// maxWarmup bounds a warm-up.
	maxWarmup = 30 * 24 * time.Hour
)

// Reasons of failures.
const (
	reasonNotConnected = "NotConnected"
	reasonEveryFailed  = "EveryOperationFailed"
	reasonLost         = "RecordsNotInserted"
	reasonHung         = "OperationsHung"
)

// configure reads all properties, and refuses what cannot be done before anything is reached.
func (s *session) configure() error {
	for _, note := range s.command.Notes {
		s.log.Info(note)
	}
	properties := s.command.Properties
	var err error
	// Properties of HBase and of Hadoop belong to the binding of HBase.
	if s.config, err = ycsb.ParseConfig(properties, propertyWarmup, "hbase.*", "hadoop.*", "zookeeper.*"); err != nil {
		return steps.PlanError(err)
	}
	for _, warning := range s.config.Warnings {
		s.log.Warn(warning)
	}
	texts, warnings, err := ycsb.NewTextOptions(properties)
	if err != nil {
		return steps.PlanError(err)
	}
	for _, warning := range warnings {
		s.log.Warn(warning)
	}
	s.texts = texts
	if s.warmup, err = warmupOf(properties); err != nil {
		return steps.PlanError(err)
	}
	if err = s.export.open(s.config, s.texts, s.process.Stdout); err != nil {
		return steps.PlanError(err)
	}
	return s.seed()
}

// warmupOf reads hadoopbench.warmup: a time with its unit, or a number of operations.
func warmupOf(p *ycsb.Properties) (ycsb.Warmup, error) {
	text, ok := p.Get(propertyWarmup)
	if text = strings.TrimSpace(text); !ok || text == "" {
		return ycsb.Warmup{}, nil
	}
	if n, err := strconv.ParseInt(text, 10, 64); err == nil && n >= 0 {
		return ycsb.Warmup{Operations: n}, nil
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 || d > maxWarmup {
		return ycsb.Warmup{}, fmt.Errorf("property %s: %q is neither a time, such as 30s, nor a number of operations", propertyWarmup, text)
	}
	return ycsb.Warmup{Duration: d}, nil
}

// exporter writes a report to where the properties want it.
type exporter struct {
	render   func(io.Writer, report.YCSBText) error
	out, raw io.Writer
	file     *os.File // of exportfile; nil: standard output
	rawFile  *os.File
	logs     *ycsb.HDRLogs // nil: none
}

// open finds the exporter by the name of YCSB's class, and opens the files, so that it is known before the start if they
// cannot be written. A report replaces what was in its file; raw latencies are added to theirs.
func (e *exporter) open(c *ycsb.Config, texts *ycsb.TextOptions, stdout io.Writer) error {
	name := c.Exporter[strings.LastIndex(c.Exporter, ".")+1:]
	e.render = map[string]func(io.Writer, report.YCSBText) error{
		"TextMeasurementsExporter":      report.RenderYCSB,
		"JSONMeasurementsExporter":      report.RenderYCSBJSON,
		"JSONArrayMeasurementsExporter": report.RenderYCSBJSONArray,
	}[name]
	if e.render == nil {
		return fmt.Errorf("property exporter: %q is not supported: give TextMeasurementsExporter, JSONMeasurementsExporter or "+
			"JSONArrayMeasurementsExporter of the package site.ycsb.measurements.exporter", c.Exporter)
	}
	e.out, e.raw = stdout, stdout
	var err error
	if texts.Log {
		dir := filepath.Dir(texts.LogPrefix + "READ.hdr")
		if info, err := os.Stat(dir); err != nil || !info.IsDir() {
			return fmt.Errorf("property hdrhistogram.output.path: %q: there is no directory %s", texts.LogPrefix, dir)
		}
		e.logs = &ycsb.HDRLogs{Open: func(metric string) (io.WriteCloser, error) { return os.Create(texts.LogPrefix + metric + ".hdr") }}
	}
	if c.ExportFile != "" {
		if e.file, err = os.OpenFile(c.ExportFile, os.O_WRONLY|os.O_CREATE, 0o644); err != nil {
			return fmt.Errorf("property exportfile: %w", err)
		}
		e.out = e.file
	}
	if texts.Raw && texts.RawFile != "" {
		if e.rawFile, err = os.OpenFile(texts.RawFile, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644); err != nil {
			return fmt.Errorf("property measurement.raw.output_file: %w", err)
		}
		e.raw = e.rawFile
	}
	return nil
}

// write writes raw latencies, if there are any, and the report.
func (e *exporter) write(result *ycsb.Result, text report.YCSBText) error {
	if e.file != nil {
		if err := e.file.Truncate(0); err != nil {
			return fmt.Errorf("empty the file of the report: %w", err)
		}
	}
	if err := result.WriteRaw(e.raw); err != nil {
		return err
	}
	if err := e.render(e.out, text); err != nil {
		return err
	}
	if e.logs != nil {
		if err := e.logs.Close(); err != nil {
			return err
		}
	}
	for _, file := range []*os.File{e.file, e.rawFile} {
		if file == nil {
			continue
		}
		if err := file.Sync(); err != nil {
			return fmt.Errorf("write the report: %w", err)
		}
	}
	return nil
}

func (e *exporter) close() {
	for _, file := range []*os.File{e.file, e.rawFile} {
		if file != nil {
			file.Close()
		}
	}
}
