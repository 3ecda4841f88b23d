package main

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/hadoop-bench/operator/runner/hbase/hbasetest"
	"github.com/hadoop-bench/operator/runner/report"
)

// nullDelay is how long the fake HBase takes for every operation.
const nullDelay = 2 * time.Millisecond

// nullServer prints what is added to the time of reads that an HBase answers after nullDelay: with the runner, and with a bare
// exchange of the same bytes. The difference of the two is the runner's; the rest is the network stack's and the fake server's,
// whose timer is late by up to a millisecond.
func nullServer(ctx context.Context, o options, out io.Writer) error {
	server, err := hbasetest.Listen(hbasetest.Options{
		Tables: []hbasetest.Table{{Name: benchTable, Families: []string{benchFamily}}},
		Delay:  nullDelay, Null: true, NullColumns: 10, NullValue: 100,
	})
	if err != nil {
		return err
	}
	defer server.Close()
	fmt.Fprintln(out, "| threads | seconds | reads/s | bare/s | 50th percentile, µs added | bare | 99th percentile, µs added | bare |\n|---|---|---|---|---|---|---|---|")
	for _, threads := range []int{8, 64} {
		c := ycsbCase{name: "null", phase: "run", file: "workloadc", threads: threads, database: "hbase", options: []string{
			"-p", "recordcount=" + strconv.Itoa(ycsbRecords), "-p", "table=" + benchTable, "-p", "columnfamily=" + benchFamily,
			"-p", "hbase.client.registry.impl=org.apache.hadoop.hbase.client.RpcConnectionRegistry",
			"-p", "hbase.client.bootstrap.servers=" + server.Registry().Servers[0],
		}}
		if !o.wants(benchCase{operation: c.name, threads: threads}) {
			continue
		}
		if err := nullRow(ctx, o, c, server.Address(0), out); err != nil {
			return fmt.Errorf("null server, %d threads: %w", threads, err)
		}
	}
	return nil
}

func nullRow(ctx context.Context, o options, c ycsbCase, address string, out io.Writer) error {
	length := seconds(ycsbLong, o)
	stdout, stderr, _, err := o.ours.output(ctx, c.args(oursName, o.workloads, length))
	if err != nil {
		return fmt.Errorf("%w; it said:\n%s", err, tail(stderr, 2000))
	}
	t, err := ycsbReport(stdout)
	if err != nil {
		return err
	}
	floor, err := bare(ctx, address, c.threads, time.Duration(length)*time.Second)
	if err != nil {
		return fmt.Errorf("exchange bare requests: %w", err)
	}
	rate, _ := t.Find(report.YCSBOverall, report.YCSBThroughput)
	columns := []string{
		strconv.Itoa(c.threads), strconv.Itoa(length), fmt.Sprintf("%.0f", rate.Float()), fmt.Sprint(len(floor) / length),
	}
	for _, percent := range []float64{50, 99} {
		latency, ok := t.Find("READ", report.YCSBOrdinal(percent)+"PercentileLatency(us)")
		if !ok {
			return fmt.Errorf("the report has no %v percentile", percent)
		}
		least := floor[int(float64(len(floor))*percent/100)]
		columns = append(columns, fmt.Sprintf("%.0f", latency.Float()-float64(nullDelay.Microseconds())),
			strconv.FormatInt((least-nullDelay).Microseconds(), 10))
	}
	fmt.Fprintln(out, line(columns))
	return nil
}
