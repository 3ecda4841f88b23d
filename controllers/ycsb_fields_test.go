package controllers

import (
	"time"

	"github.com/hadoop-bench/operator/api/v1alpha1"
	"github.com/hadoop-bench/operator/runner/report"
)

// mixedReport is that of a shard that did 1,024 operations in 10 s, half of them reads and half updates.
func mixedReport(id report.Identity, index int32, at time.Time) *report.Report {
	r := operationsReport(id, index, at)
	r.Body.Tried = r.Body.Operations
	for _, name := range []string{"READ", "UPDATE"} {
		h := report.NewHistogram(report.DefaultScale)
		for i := range int64(512) {
			h.Record(9_000_000 + i)
		}
		r.Body.Parts = append(r.Body.Parts, report.Part{Name: name, Returns: report.Returns{{Status: "OK", Count: 512}}, Latency: h})
	}
	r.Body.Latency = nil
	return r
}

// ycsbFields has the fields of a YCSBRun's spec beside those that mean the same for every kind.
func ycsbFields() map[string]specField {
	type spec = v1alpha1.YCSBRunSpec
	set := func(set func(*spec)) specField { return specField{set: func(run Run) { set(ycsbSpec(run)) }} }
	with := func(f specField, prepare func(*spec)) specField {
		f.prepare = func(run Run) { prepare(ycsbSpec(run)) }
		return f
	}
	first := func(set func(*v1alpha1.YCSBWorkload)) specField {
		return specField{set: func(run Run) { set(&ycsbSpec(run).Workloads[0]) }}
	}
	scans := func(set func(*v1alpha1.YCSBWorkload)) specField {
		return specField{set: func(run Run) { set(&ycsbSpec(run).Workloads[1]) }}
	}
	choosing := func(distribution string, f specField) specField {
		f.prepare = func(run Run) { ycsbSpec(run).Workloads[0].RequestDistribution = distribution }
		return f
	}
	load := func(set func(*v1alpha1.YCSBLoad)) specField {
		f := specField{set: func(run Run) { set(ycsbSpec(run).Load) }}
		f.prepare = func(run Run) { ycsbSpec(run).Load = &v1alpha1.YCSBLoad{} }
		return f
	}
	http := func(h v1alpha1.HTTPAddresses) func(*spec) { return func(s *spec) { s.Target.HTTP = &h } }
	kerberos := func(s *spec) { s.Target.Kerberos = &v1alpha1.Kerberos{Principal: "bench@EXAMPLE.COM"} }
	return map[string]specField{
		"target.fs": impossible(func(run Run) { ycsbSpec(run).Target.FS = "hdfs://namenode:8020" }),
		"target.properties": set(func(s *spec) {
			s.Target.Properties = map[string]v1alpha1.PropertyValue{"hbase.masters": "master:16000"}
		}),
		"target.kerberos.principal":        set(kerberos),
		"target.kerberos.keytabSecretRef":  with(set(func(s *spec) { s.Target.Kerberos.KeytabSecretRef.Name = "keytab" }), kerberos),
		"target.kerberos.krb5ConfigMapRef": with(set(func(s *spec) { s.Target.Kerberos.Krb5ConfigMapRef.Name = "krb5" }), kerberos),
		"target.http.nameNodes": impossible(func(run Run) {
			http(v1alpha1.HTTPAddresses{NameNodes: []string{"http://namenode:9870"}})(ycsbSpec(run))
		}),
		"target.http.masters":       set(http(v1alpha1.HTTPAddresses{Masters: []string{"http://master:16010"}})),
		"target.http.regionServers": set(http(v1alpha1.HTTPAddresses{RegionServers: []string{"http://regionserver:16030"}})),
		"keepResults":               impossible(func(run Run) { ycsbSpec(run).KeepResults = ptr(false) }),
		"warmup":                    set(func(s *spec) { s.Warmup = duration(time.Second) }),
		"engine":                    {set: func(run Run) { ycsbSpec(run).Engine = v1alpha1.EngineUpstream }, refused: v1alpha1.ReasonNotSupported},
		"client":                    {set: func(run Run) { ycsbSpec(run).Client = v1alpha1.ClientColinmarc }, refused: v1alpha1.ReasonNotSupported},

		"table.name":         set(func(s *spec) { s.Table.Name = "bench:other" }),
		"table.columnFamily": set(func(s *spec) { s.Table.ColumnFamily = "cf" }),
		"table.regions":      set(func(s *spec) { s.Table.Regions = ptr(int32(6)) }),
		"table.createPolicy": set(func(s *spec) { s.Table.CreatePolicy = v1alpha1.YCSBCreateNever }),
		"table.dropAfter":    set(func(s *spec) { s.Table.DropAfter = ptr(true) }),
		"table.compression":  set(func(s *spec) { s.Table.Compression = "Snappy" }),
		"table.values":       set(func(s *spec) { s.Table.Values = map[string]v1alpha1.PropertyValue{"a": "b"} }),

		"recordCount":             set(func(s *spec) { s.RecordCount = 10_000_000_000 }),
		"useExisting":             set(func(s *spec) { s.UseExisting = ptr(true) }),
		"load.shards":             load(func(l *v1alpha1.YCSBLoad) { l.Shards = ptr(int32(3)) }),
		"load.threads":            load(func(l *v1alpha1.YCSBLoad) { l.Threads = ptr(int32(8)) }),
		"load.target":             load(func(l *v1alpha1.YCSBLoad) { l.Target = "100" }),
		"load.majorCompact":       load(func(l *v1alpha1.YCSBLoad) { l.MajorCompact = ptr(true) }),
		"load.waitForCompaction":  load(func(l *v1alpha1.YCSBLoad) { l.WaitForCompaction = ptr(false) }),
		"load.settleTime":         load(func(l *v1alpha1.YCSBLoad) { l.SettleTime = duration(time.Second) }),
		"load.compactionDeadline": load(func(l *v1alpha1.YCSBLoad) { l.CompactionDeadline = duration(time.Hour) }),

		"threads":                 set(func(s *spec) { s.Threads = ptr(int32(7)) }),
		"shards":                  set(func(s *spec) { s.Shards = ptr(int32(3)) }),
		"connectionsPerShard":     set(func(s *spec) { s.ConnectionsPerShard = ptr(int32(2)) }),
		"rest":                    set(func(s *spec) { s.Rest = duration(time.Minute) }),
		"fieldCount":              set(func(s *spec) { s.FieldCount = ptr(int32(1)) }),
		"fieldLength":             set(func(s *spec) { s.FieldLength = ptr(int32(1000)) }),
		"minFieldLength":          with(set(func(s *spec) { s.MinFieldLength = ptr(int32(10)) }), func(s *spec) { s.FieldLengthDistribution = "uniform" }),
		"fieldLengthDistribution": set(func(s *spec) { s.FieldLengthDistribution = "zipfian" }),
		"fieldNamePrefix":         set(func(s *spec) { s.FieldNamePrefix = "f" }),
		"readAllFields":           set(func(s *spec) { s.ReadAllFields = ptr(false) }),
		"readAllFieldsByName":     set(func(s *spec) { s.ReadAllFieldsByName = ptr(true) }),
		"writeAllFields":          set(func(s *spec) { s.WriteAllFields = ptr(true) }),
		"dataIntegrity":           set(func(s *spec) { s.DataIntegrity = ptr(true) }),
		"insertOrder":             set(func(s *spec) { s.InsertOrder = "ordered" }),
		"zeroPadding":             set(func(s *spec) { s.ZeroPadding = ptr(int32(12)) }),
		"insertionRetryLimit":     set(func(s *spec) { s.InsertionRetryLimit = ptr(int32(2)) }),
		"insertionRetryInterval":  with(set(func(s *spec) { s.InsertionRetryInterval = duration(time.Second) }), func(s *spec) { s.InsertionRetryLimit = ptr(int32(2)) }),
		"durability":              set(func(s *spec) { s.Durability = "SkipWAL" }),
		"clientBuffering":         set(func(s *spec) { s.ClientBuffering = ptr(true) }),
		"writeBufferSize":         with(set(func(s *spec) { s.WriteBufferSize = ptr(int64(1024)) }), func(s *spec) { s.ClientBuffering = ptr(true) }),
		"usePageFilter":           set(func(s *spec) { s.UsePageFilter = ptr(false) }),
		"zipfianScrambling":       set(func(s *spec) { s.ZipfianScrambling = "Exact" }),
		"seed":                    set(func(s *spec) { s.Seed = ptr(int64(7)) }),
		"properties":              set(func(s *spec) { s.Properties = map[string]v1alpha1.PropertyValue{"debug": "true"} }),

		"workloads.name":                      first(func(w *v1alpha1.YCSBWorkload) { w.Name = "mine" }),
		"workloads.preset":                    first(func(w *v1alpha1.YCSBWorkload) { w.Preset = "F" }),
		"workloads.operationCount":            first(func(w *v1alpha1.YCSBWorkload) { w.OperationCount = ptr(int64(7)) }),
		"workloads.duration":                  first(func(w *v1alpha1.YCSBWorkload) { w.Duration = duration(time.Hour) }),
		"workloads.repeats":                   first(func(w *v1alpha1.YCSBWorkload) { w.Repeats = ptr(int32(1)) }),
		"workloads.target":                    first(func(w *v1alpha1.YCSBWorkload) { w.Target = "100" }),
		"workloads.warmup":                    first(func(w *v1alpha1.YCSBWorkload) { w.Warmup = duration(time.Second) }),
		"workloads.readProportion":            first(func(w *v1alpha1.YCSBWorkload) { w.ReadProportion = "1" }),
		"workloads.updateProportion":          first(func(w *v1alpha1.YCSBWorkload) { w.UpdateProportion = "1" }),
		"workloads.insertProportion":          first(func(w *v1alpha1.YCSBWorkload) { w.InsertProportion = "1" }),
		"workloads.scanProportion":            first(func(w *v1alpha1.YCSBWorkload) { w.ScanProportion = "1" }),
		"workloads.readModifyWriteProportion": first(func(w *v1alpha1.YCSBWorkload) { w.ReadModifyWriteProportion = "1" }),
		"workloads.requestDistribution":       first(func(w *v1alpha1.YCSBWorkload) { w.RequestDistribution = "uniform" }),
		"workloads.minScanLength":             scans(func(w *v1alpha1.YCSBWorkload) { w.MinScanLength = ptr(int32(10)) }),
		"workloads.maxScanLength":             scans(func(w *v1alpha1.YCSBWorkload) { w.MaxScanLength = ptr(int32(10)) }),
		"workloads.scanLengthDistribution":    scans(func(w *v1alpha1.YCSBWorkload) { w.ScanLengthDistribution = "zipfian" }),
		"workloads.hotspotDataFraction":       choosing("hotspot", first(func(w *v1alpha1.YCSBWorkload) { w.HotspotDataFraction = "0.1" })),
		"workloads.hotspotOpnFraction":        choosing("hotspot", first(func(w *v1alpha1.YCSBWorkload) { w.HotspotOpnFraction = "0.9" })),
		"workloads.exponentialPercentile":     choosing("exponential", first(func(w *v1alpha1.YCSBWorkload) { w.ExponentialPercentile = "90" })),
		"workloads.exponentialFrac":           choosing("exponential", first(func(w *v1alpha1.YCSBWorkload) { w.ExponentialFrac = "0.1" })),
	}
}
