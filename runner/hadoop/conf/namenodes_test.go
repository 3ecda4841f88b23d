package conf_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hadoop-bench/operator/runner/hadoop/conf"
)

func TestFileSystem(t *testing.T) {
	ha := []string{
		"fs.defaultFS", "hdfs://ns1", "dfs.nameservices", "ns1,ns2",
		"dfs.ha.namenodes.ns1", "nn1, nn2",
		"dfs.namenode.rpc-address.ns1.nn1", "one.example:9000", "dfs.namenode.rpc-address.ns1.nn2", "two.example",
		"dfs.namenode.rpc-address.ns2", "single.example:9001",
		"dfs.ha.namenodes.broken", "a,b", "dfs.namenode.rpc-address.broken.a", "a:1",
		"dfs.ha.namenodes.badport", "a", "dfs.namenode.rpc-address.badport.a", "a:0",
	}
	tests := map[string]struct {
		properties []string
		uri        string
		want       conf.FileSystem
		err        string
	}{
		"host and port":          {nil, "hdfs://nn:9000", conf.FileSystem{URI: "hdfs://nn:9000", Addresses: []string{"nn:9000"}}, ""},
		"trailing slash":         {nil, "hdfs://nn:9000/", conf.FileSystem{URI: "hdfs://nn:9000", Addresses: []string{"nn:9000"}}, ""},
		"host without port":      {nil, "hdfs://nn", conf.FileSystem{URI: "hdfs://nn:8020", Addresses: []string{"nn:8020"}}, ""},
		"IPv4":                   {nil, "hdfs://198.18.0.1", conf.FileSystem{URI: "hdfs://198.18.0.1:8020", Addresses: []string{"198.18.0.1:8020"}}, ""},
		"IPv6 with port":         {nil, "hdfs://[fd00::1]:9000", conf.FileSystem{URI: "hdfs://[fd00::1]:9000", Addresses: []string{"[fd00::1]:9000"}}, ""},
		"IPv6 without port":      {nil, "hdfs://[fd00::1]", conf.FileSystem{URI: "hdfs://[fd00::1]:8020", Addresses: []string{"[fd00::1]:8020"}}, ""},
		"from fs.defaultFS":      {[]string{"fs.defaultFS", "hdfs://nn:1"}, "", conf.FileSystem{URI: "hdfs://nn:1", Addresses: []string{"nn:1"}}, ""},
		"uri over fs.defaultFS":  {[]string{"fs.defaultFS", "hdfs://nn:1"}, "hdfs://other:2", conf.FileSystem{URI: "hdfs://other:2", Addresses: []string{"other:2"}}, ""},
		"deprecated name":        {[]string{"fs.default.name", "hdfs://nn:1"}, "", conf.FileSystem{URI: "hdfs://nn:1", Addresses: []string{"nn:1"}}, ""},
		"name service":           {ha, "", conf.FileSystem{URI: "hdfs://ns1", Addresses: []string{"one.example:9000", "two.example:8020"}}, ""},
		"service of one":         {ha, "hdfs://ns2", conf.FileSystem{URI: "hdfs://ns2", Addresses: []string{"single.example:9001"}}, ""},
		"host beside services":   {ha, "hdfs://other", conf.FileSystem{URI: "hdfs://other:8020", Addresses: []string{"other:8020"}}, ""},
		"port beats services":    {ha, "hdfs://ns1:8020", conf.FileSystem{URI: "hdfs://ns1:8020", Addresses: []string{"ns1:8020"}}, ""},
		"service with a gap":     {ha, "hdfs://broken", conf.FileSystem{}, "property dfs.namenode.rpc-address.broken.b is not set"},
		"service with bad port":  {ha, "hdfs://badport", conf.FileSystem{}, `property dfs.namenode.rpc-address.badport.a (core-site.xml:12): "a:0": port "0"`},
		"nothing set":            {nil, "", conf.FileSystem{}, "no file system: neither an address nor the property fs.defaultFS is set; give hdfs://"},
		"local files":            {[]string{"fs.defaultFS", "file:///"}, "", conf.FileSystem{}, `property fs.defaultFS "file:///": scheme "file" is not supported; give hdfs://`},
		"viewfs":                 {nil, "viewfs://cluster", conf.FileSystem{}, `scheme "viewfs" is not supported`},
		"no scheme":              {nil, "nn:8020", conf.FileSystem{}, `scheme "nn" is not supported`},
		"no host":                {nil, "hdfs:///", conf.FileSystem{}, "more or less than a host and a port"},
		"port only":              {nil, "hdfs://:8020", conf.FileSystem{}, "more or less than a host and a port"},
		"a path":                 {nil, "hdfs://nn/benchmarks", conf.FileSystem{}, "more or less than a host and a port"},
		"a user":                 {nil, "hdfs://me@nn", conf.FileSystem{}, "more or less than a host and a port"},
		"port beyond 16 bits":    {nil, "hdfs://nn:99999", conf.FileSystem{}, `port "99999" is not between 1 and 65535`},
		"port of letters":        {nil, "hdfs://nn:rpc", conf.FileSystem{}, "not a URI"},
		"two hosts":              {nil, "hdfs://a,b", conf.FileSystem{}, `host "a,b" is not a host name`},
		"control characters":     {nil, "hdfs://nn\n", conf.FileSystem{}, "not a URI"},
		"address by a variable":  {[]string{"h", "nn", "fs.defaultFS", "hdfs://${h}:1"}, "", conf.FileSystem{URI: "hdfs://nn:1", Addresses: []string{"nn:1"}}, ""},
		"address left to expand": {[]string{"fs.defaultFS", "hdfs://${h}:1"}, "", conf.FileSystem{}, "fs.defaultFS"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			c := load(t, map[string][]byte{"core-site.xml": site(tt.properties...)}, conf.Options{})
			got, err := c.FileSystem(tt.uri)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("FileSystem (-want +got):\n%s", diff)
			}
			if tt.err == "" && err != nil || tt.err != "" && (err == nil || !strings.Contains(err.Error(), tt.err)) {
				t.Errorf("error %v, want %q", err, tt.err)
			}
		})
	}
}
