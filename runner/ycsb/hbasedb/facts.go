package hbasedb

import (
	"cmp"
	"context"
	"strconv"

	"github.com/hadoop-bench/operator/runner/hbase"
	"github.com/hadoop-bench/operator/runner/hbase/admin"
)

// gather collects facts. What cannot be had is a fact as well.
func gather(ctx context.Context, a *admin.Admin, s Settings, regions []hbase.LocatedRegion, table admin.Table) map[string]string {
	facts := map[string]string{
		"table": s.Table, "table.columnFamily": s.Family, "table.regions": strconv.Itoa(len(regions)),
		"hbase.walProvider": "unknown",
	}
	servers := map[string]bool{}
	for _, region := range regions {
		servers[region.Server] = true
	}
	facts["table.regionServers"] = strconv.Itoa(len(servers))
	for _, f := range table.Families {
		if f.Name == s.Family {
			facts["table.compression"], facts["table.bloomFilter"] = cmp.Or(f.Compression, "NONE"), cmp.Or(f.BloomFilter, "ROW")
			facts["table.dataBlockEncoding"] = cmp.Or(f.DataBlockEncoding, "NONE")
		}
	}
	ctx, cancel := context.WithTimeout(ctx, descriptorTimeout)
	defer cancel()
	status, err := a.Status(ctx)
	if err != nil {
		facts["hbase.version"] = "unknown: " + err.Error()
		return facts
	}
	facts["hbase.version"], facts["hbase.master"] = status.Version, status.Master
	facts["hbase.regionServers"] = strconv.Itoa(len(status.Servers))
	facts["hbase.deadRegionServers"] = strconv.Itoa(status.Dead)
	facts["hbase.balancer"] = strconv.FormatBool(status.BalancerOn)
	return facts
}
