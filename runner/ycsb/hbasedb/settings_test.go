package hbasedb_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hadoop-bench/operator/runner/hbase"
	"github.com/hadoop-bench/operator/runner/ycsb"
	"github.com/hadoop-bench/operator/runner/ycsb/hbasedb"
)

func properties(t *testing.T, texts ...string) *ycsb.Properties {
	t.Helper()
	p := ycsb.NewProperties()
	for _, text := range texts {
		if err := p.Assign(text); err != nil {
			t.Fatal(err)
		}
	}
	return p
}

func TestReadSettings(t *testing.T) {
	standard := hbasedb.Settings{
		Table: "usertable", Family: "f", BufferSize: 12582912, PageFilter: true, Configuration: map[string]string{},
	}
	with := func(change func(*hbasedb.Settings)) hbasedb.Settings {
		s := standard
		change(&s)
		return s
	}
	tests := []struct {
		name string
		set  []string
		want hbasedb.Settings
	}{
		{"YCSB's defaults", nil, standard},
		{"buffered", []string{"clientbuffering=true", "writebuffersize=1000"}, with(func(s *hbasedb.Settings) {
			s.Buffering, s.BufferSize = true, 1000
		})},
		{"the values of workload files may have spaces behind", []string{"table=ns:t ", "clientbuffering=TRUE "}, with(func(s *hbasedb.Settings) {
			s.Table, s.Buffering = "ns:t", true
		})},
		{"durability", []string{"durability=SKIP_WAL"}, with(func(s *hbasedb.Settings) { s.Durability = hbase.SkipWAL })},
		{"no page filter, debug", []string{"hbase.usepagefilter=false", "debug=true"}, with(func(s *hbasedb.Settings) {
			s.PageFilter, s.Debug = false, true
		})},
		{"Kerberos", []string{"principal=alice@A", "keytab=/k"}, with(func(s *hbasedb.Settings) { s.Principal, s.Keytab = "alice@A", "/k" })},
		{"no filter by value", []string{"hbase.usescanvaluefiltering=false"}, standard},
		{
			"configuration is told from the binding's own",
			[]string{"hbase.zookeeper.quorum=z", "zookeeper.znode.parent=/h", "hadoop.x=y", "hbase.usepagefilter=true", "hadoopbench.seed=1"},
			with(func(s *hbasedb.Settings) {
				s.Configuration = map[string]string{"hbase.zookeeper.quorum": "z", "zookeeper.znode.parent": "/h", "hadoop.x": "y"}
			}),
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, err := hbasedb.ReadSettings(properties(t, append(test.set, "columnfamily=f")...))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("settings (-want +got):\n%s", diff)
			}
		})
	}
}

func TestReadSettingsRefuses(t *testing.T) {
	tests := []struct {
		name, set, want string
	}{
		{"no family", "columnfamily=", "property columnfamily is not set: Error, must specify a columnfamily for HBase table"},
		{"a durability that HBase has not", "durability=true", "property durability=true: choose USE_DEFAULT, SKIP_WAL"},
		{"a word that is no truth", "clientbuffering=yes", "property clientbuffering=yes: choose true or false"},
		{"a buffer of nothing", "writebuffersize=0", "property writebuffersize=0: choose a number of bytes"},
		{"a size with a unit", "writebuffersize=12m", "property writebuffersize=12m"},
		{"a principal alone", "principal=alice", `properties principal="alice" and keytab=""`},
		{"a keytab alone", "keytab=/k", `one does nothing without the other`},
		{"a filter by value", "hbase.usescanvaluefiltering=true", "property hbase.usescanvaluefiltering=true: filtering by value is not supported"},
		{"its operator", "hbase.scanfilteroperator=LESS", "property hbase.scanfilteroperator=LESS: filtering by value is not supported"},
		{"its value", "hbase.scanfiltervalue=7F", "property hbase.scanfiltervalue=7F: filtering by value is not supported"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := hbasedb.ReadSettings(properties(t, "columnfamily=f", test.set))
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want one with %q", err, test.want)
			}
		})
	}
}
