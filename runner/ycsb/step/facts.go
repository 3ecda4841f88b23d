package step

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/hadoop-bench/operator/runner/hbase"
	"github.com/hadoop-bench/operator/runner/hbase/admin"
	"github.com/hadoop-bench/operator/runner/plan"
	"github.com/hadoop-bench/operator/runner/report"
)

const (
	maxList      = 300 // bytes of a fact that tells of each server
	afterTimeout = 15 * time.Second
)

// gatherCluster puts into the facts what the master and the web addresses tell of the cluster.
func (s *step) gatherCluster(ctx context.Context, status admin.Status) {
	for name, value := range clusterFacts(status) {
		s.fact(name, value)
	}
	s.fact("hbase.clusterId", status.ClusterID)
	s.fact("hbase.user", s.user())
	s.fact("hbase.freeSpace", "unknown: HBase does not tell, look at its HDFS")
	s.fact("runner", s.env.Version)
	s.fact("go", s.env.GoVersion)
	for name, value := range s.webFacts(ctx) {
		s.fact(name, value)
	}
}

// clusterFacts are those that may change while a run works.
func clusterFacts(status admin.Status) map[string]string {
	var names, regions, stores []string
	for _, server := range status.Servers {
		names = append(names, server.Address())
		regions = append(regions, fmt.Sprintf("%s %d", server.Address(), server.Regions))
		stores = append(stores, fmt.Sprintf("%s %d", server.Address(), server.StoreMB))
	}
	return map[string]string{
		"hbase.version": status.Version, "hbase.master": status.Master,
		"hbase.regionServers": strconv.Itoa(len(status.Servers)), "hbase.regionServerNames": list(names),
		"hbase.deadRegionServers": strconv.Itoa(status.Dead), "hbase.balancer": strconv.FormatBool(status.BalancerOn),
		"hbase.regions": list(regions), "hbase.storeFileMiB": list(stores),
	}
}

// list joins entries as far as there is room, and tells how many are left out.
func list(entries []string) string {
	text := strings.Join(entries, ", ")
	for shown := len(entries) - 1; len(text) > maxList && shown > 0; shown-- {
		text = fmt.Sprintf("%s and %d more", strings.Join(entries[:shown], ", "), len(entries)-shown)
	}
	return report.Shorten(text, maxList)
}

// gatherTable puts into the facts what the table is.
func (p *inspection) gatherTable(ctx context.Context) error {
	p.fact("table", p.y.Table)
	p.fact("table.exists", strconv.FormatBool(p.exists))
	if !p.exists {
		return nil
	}
	if o, owned := ownerOf(p.table.Values); owned {
		p.fact("table.madeBy", o.String())
	}
	if text := p.table.Values[attributeState]; text != "" {
		p.fact("table.state", text)
	}
	for _, f := range p.table.Families {
		if f.Name == p.y.ColumnFamily && f.Compression != "" {
			p.fact("table.compression", f.Compression)
		}
	}
	return p.tellRegions(ctx)
}

func countServers(regions []hbase.LocatedRegion) int {
	servers := map[string]bool{}
	for _, r := range regions {
		if r.Server != "" {
			servers[r.Server] = true
		}
	}
	return len(servers)
}

// gatherAfter has shard 0 tell what has become of the cluster, once it has measured. What cannot be had is left out.
func (s *step) gatherAfter(ctx context.Context) {
	if s.env.Index != 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), afterTimeout)
	defer cancel()
	status, err := s.target.Status(ctx)
	if err != nil {
		s.log().Warn("What has become of the cluster is not known", "error", err)
		return
	}
	stores := int64(0)
	for _, server := range status.Servers {
		stores += server.StoreMB
	}
	// In few bytes: a report has room for little beside its histograms.
	s.fact(plan.FactsAfter+"hbase.regionServers", strconv.Itoa(len(status.Servers)))
	s.fact(plan.FactsAfter+"hbase.deadRegionServers", strconv.Itoa(status.Dead))
	s.fact(plan.FactsAfter+"hbase.storeFileMiB", strconv.FormatInt(stores, 10))
	regions, err := s.target.Regions(ctx)
	if err != nil {
		s.log().Warn("What has become of the table is not known", "error", err)
		return
	}
	s.fact(plan.FactsAfter+"table.regions", strconv.Itoa(len(regions)))
	s.fact(plan.FactsAfter+"table.regionServers", strconv.Itoa(countServers(regions)))
}

// tellRetries puts into the facts how often the client repeated calls since before, and why; nothing if it never did.
func (s *step) tellRetries(before hbase.Counters) {
	now := s.target.Counters()
	var parts []string
	for _, c := range []struct {
		n         int64
		one, many string
	}{
		{now.Retries - before.Retries, "retry", "retries"},
		{now.Relocations - before.Relocations, "region moved", "regions moved"},
		{now.Lost - before.Lost, "server lost", "servers lost"},
		{now.Busy - before.Busy, "answer that a server is busy", "answers that a server is busy"},
	} {
		switch {
		case c.n == 1:
			parts = append(parts, "1 "+c.one)
		case c.n > 1:
			parts = append(parts, fmt.Sprintf("%d %s", c.n, c.many))
		}
	}
	if len(parts) > 0 {
		s.fact(plan.FactRetries, strings.Join(parts, ", "))
	}
}
