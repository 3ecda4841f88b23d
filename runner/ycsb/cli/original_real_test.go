package cli_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hadoop-bench/operator/runner/hbase"
	"github.com/hadoop-bench/operator/runner/report"
)

// originalRecords is how many records each of the two loads.
const originalRecords = 200

// TestRealOriginal loads a table as the original YCSB does, and reads what it loaded.
func TestRealOriginal(t *testing.T) {
	env := fromEnv(t, clusterEnv, originalEnv)
	h := openReal(t, env[0])
	orders := []string{"hashed"}
	if long() {
		orders = append(orders, "ordered")
	}
	for _, order := range orders {
		t.Run(order, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "workload")
			write(t, file, fmt.Sprintf("# Some of it is of YCSB's files.\nworkload = site.ycsb.workloads.CoreWorkload\nrecordcount:%d\noperationcount=%[1]d\n"+
				"fieldcount=4\nfieldlength=\\\n  50\nzeropadding=6\ninsertorder=%s\ndataintegrity=true\nreadproportion=1\nupdateproportion=0\n"+
				"requestdistribution=zipfian\nhdrhistogram.percentiles=50,95,99\n", originalRecords, order))
			h.compare(t, env[1], file)
		})
	}
}

// compare has both load a table of their own, and read the other's.
func (h *realHBase) compare(t *testing.T, original, file string) {
	ours, theirs := h.create(t, "ours"), h.create(t, "theirs")
	args := func(table string) string { return "-P " + file + " -threads 4 -p table=" + table }
	load := h.ycsb(t, "load hbase", args(ours))
	load.operations(t, originalRecords)
	sameForm(t, reportIn(t, upstream(t, original, "load", file, theirs)), load.text(t))
	if diff := cmp.Diff(h.rows(t, theirs), h.rows(t, ours)); diff != "" {
		t.Errorf("what the original loaded, and what we did (-theirs +ours):\n%s", diff)
	}
	run := h.ycsb(t, "run hbase", args(theirs))
	if n := run.operations(t, originalRecords); n["VERIFY"] != originalRecords {
		t.Errorf("%d records of the original were verified, want %d", n["VERIFY"], originalRecords)
	}
	text := reportIn(t, upstream(t, original, "run", file, ours))
	if n := succeeded(t, text); n["VERIFY"] != originalRecords {
		t.Errorf("the original verified %d records, want %d", n["VERIFY"], originalRecords)
	}
	sameForm(t, text, run.text(t))
}

// upstream is what the original prints.
func upstream(t *testing.T, original, phase, file, table string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), realTimeout)
	defer cancel()
	var stderr buffer
	c := exec.CommandContext(ctx, original, phase, file, "-threads", "4", "-p", "table="+table, "-p", "columnfamily=f")
	c.Env, c.Stderr = append(os.Environ(), "HBASE_CLIENT=client"), &stderr
	out, err := c.Output()
	if err != nil {
		t.Fatalf("the original: %v\n%s", err, stderr.String())
	}
	return string(out)
}

// sameForm wants both reports to have the same lines, but for their figures and what collects garbage.
func sameForm(t *testing.T, theirs, ours report.YCSBText) {
	t.Helper()
	form := func(text report.YCSBText) (lines []string) {
		for _, line := range text {
			kind := "double"
			if _, ok := line.Value.Whole(); ok {
				kind = "whole"
			}
			if !strings.HasPrefix(line.Metric, "TOTAL_GC") {
				lines = append(lines, fmt.Sprintf("[%s], %s, %s", line.Metric, line.Measurement, kind))
			}
		}
		slices.Sort(lines) // the original's order is that of a hash table
		return lines
	}
	if diff := cmp.Diff(form(theirs), form(ours)); diff != "" {
		t.Errorf("lines of the reports (-theirs +ours):\n%s", diff)
	}
}

// rows are those of a table, with their fields and values.
func (h *realHBase) rows(t *testing.T, table string) map[string]string {
	t.Helper()
	rows := map[string]string{}
	h.scan(t, table, func(row hbase.Row) {
		var fields strings.Builder
		for _, c := range row {
			fmt.Fprintf(&fields, "%s:%s=%s ", c.Family, c.Qualifier, c.Value)
		}
		rows[string(row[0].Row)] = fields.String()
	})
	return rows
}
