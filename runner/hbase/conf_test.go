package hbase_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/hadoop-bench/operator/runner/hadoop/conf"
	"github.com/hadoop-bench/operator/runner/hadoop/sasl"
	"github.com/hadoop-bench/operator/runner/hbase"
	"github.com/hadoop-bench/operator/runner/hbase/registry"
	"github.com/hadoop-bench/operator/runner/hbase/rpc"
)

func configure(t *testing.T, properties map[string]string) *conf.Conf {
	t.Helper()
	c, err := conf.Load(nil, conf.Options{Files: hbase.ConfFiles(), Overrides: properties})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestFromConf(t *testing.T) {
	standard := hbase.Options{
		Registry: registry.Config{Quorum: []string{"127.0.0.1:2181"}, Parent: "/hbase", SessionTimeout: 90 * time.Second},
		RPC:      rpc.Options{User: "u", Connections: 1, CallTimeout: 20 * time.Second, Protection: []string{"authentication"}},
		Calls:    hbase.CallTime{Operation: time.Minute, Attempt: 20 * time.Second, Pause: 100 * time.Millisecond}, WriteBuffer: 2 << 20, MaxCell: 10 << 20,
	}
	tests := map[string]struct {
		properties map[string]string
		change     func(*hbase.Options)
	}{
		"defaults": {nil, func(*hbase.Options) {}},
		"quorum": {
			map[string]string{
				"hbase.zookeeper.quorum": "a, b:2182,[fe80::1]:3,fe80::2", "hbase.zookeeper.property.clientPort": "2183",
				"zookeeper.znode.parent": "/x/y", "zookeeper.session.timeout": "4000",
				"hbase.client.registry.impl": "org.apache.hadoop.hbase.client.ZKConnectionRegistry",
			},
			func(o *hbase.Options) {
				o.Registry = registry.Config{
					Quorum: []string{"a:2183", "b:2182", "[fe80::1]:3", "[fe80::2]:2183"}, Parent: "/x/y", SessionTimeout: 4 * time.Second,
				}
			},
		},
		"bootstrap servers": {
			map[string]string{
				"hbase.client.registry.impl":     "org.apache.hadoop.hbase.client.RpcConnectionRegistry",
				"hbase.client.bootstrap.servers": "a:16020,b", "hbase.masters": "m",
			},
			func(o *hbase.Options) {
				o.Registry = registry.Config{Kind: registry.RPC, Servers: []string{"a:16020", "b:16000"}}
			},
		},
		"masters instead of bootstrap servers": {
			map[string]string{"hbase.client.registry.impl": "RpcConnectionRegistry", "hbase.masters": "m"},
			func(o *hbase.Options) {
				o.Registry = registry.Config{Kind: registry.RPC, Servers: []string{"m:16000"}}
			},
		},
		"masters": {
			map[string]string{
				"hbase.client.registry.impl":     "org.apache.hadoop.hbase.client.MasterRegistry",
				"hbase.client.bootstrap.servers": "a:16020", "hbase.masters": "m:1",
			},
			func(o *hbase.Options) {
				o.Registry = registry.Config{Kind: registry.RPC, Servers: []string{"m:1"}}
			},
		},
		"calls": {
			map[string]string{
				"hbase.client.ipc.pool.size": "4", "hbase.client.pause": "20", "hbase.client.retries.number": "7",
				"hbase.client.operation.timeout": "30000", "hbase.rpc.timeout": "5s", "hbase.client.write.buffer": "12m",
				"hbase.client.keyvalue.maxsize": "0", "hbase.rpc.protection": "Privacy,integrity",
			},
			func(o *hbase.Options) {
				o.RPC.Connections, o.RPC.CallTimeout, o.RPC.Protection = 4, 5*time.Second, []string{"privacy", "integrity"}
				o.Calls = hbase.CallTime{Operation: 30 * time.Second, Attempt: 5 * time.Second, Pause: 20 * time.Millisecond, Retries: 7}
				o.WriteBuffer, o.MaxCell = 12<<20, -1
			},
		},
		"no retries": {
			map[string]string{"hbase.client.retries.number": "0"},
			func(o *hbase.Options) { o.Calls.Retries = hbase.NoRetries },
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := hbase.FromConf(configure(t, tt.properties), hbase.Identity{User: "u"})
			want := standard
			tt.change(&want)
			if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(rpc.Options{}, "Dial", "ServerPrincipal")); diff != "" || err != nil {
				t.Errorf("FromConf: error %v (-want +got):\n%s", err, diff)
			}
		})
	}
}

func TestFromConfRefuses(t *testing.T) {
	tests := map[string]struct{ name, value, want string }{
		"port in the quorum":   {"hbase.zookeeper.quorum", "a:0", `"0" is not a port; write host:port`},
		"no host":              {"hbase.zookeeper.quorum", ":2181", "there is no host"},
		"two colons":           {"hbase.zookeeper.quorum", "a:1:2", "write host:port"},
		"client port":          {"hbase.zookeeper.property.clientPort", "70000", "70000 is not between 1 and 65535"},
		"parent":               {"zookeeper.znode.parent", "hbase", `"hbase" does not begin with /`},
		"session":              {"zookeeper.session.timeout", "0", "between a millisecond and a day"},
		"registry":             {"hbase.client.registry.impl", "a.b.Other", `"a.b.Other" is none of the registries`},
		"no masters":           {"hbase.client.registry.impl", "MasterRegistry", "set hbase.client.bootstrap.servers or hbase.masters"},
		"pool":                 {"hbase.client.ipc.pool.size", "0", "0 is not between 1 and 1024"},
		"pause":                {"hbase.client.pause", "soon", "not a time"},
		"retries":              {"hbase.client.retries.number", "-1", "-1 is not between 0 and"},
		"retries, a word":      {"hbase.client.retries.number", "many", "not an integer"},
		"operation":            {"hbase.client.operation.timeout", "-5", "between a millisecond and a day"},
		"call":                 {"hbase.rpc.timeout", "2d", "between a millisecond and a day"},
		"write buffer":         {"hbase.client.write.buffer", "0", "0 bytes are not between 1 and"},
		"cell":                 {"hbase.client.keyvalue.maxsize", "big", "not a size"},
		"authentication":       {"hbase.security.authentication", "token", `"token" is neither simple nor kerberos`},
		"Kerberos without one": {"hbase.security.authentication", "kerberos", "no Kerberos principal with a keytab"},
		"protection":           {"hbase.rpc.protection", "secret", `"secret" is none of authentication, integrity, privacy`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := hbase.FromConf(configure(t, map[string]string{tt.name: tt.value}), hbase.Identity{})
			if err == nil || !strings.Contains(err.Error(), tt.want) || name != "no masters" && !strings.Contains(err.Error(), tt.name) {
				t.Errorf("FromConf: %v, want an error with %q and the property's name", err, tt.want)
			}
		})
	}
}

// login is a Kerberos login that is never used.
type login struct{ sasl.Login }

func TestFromConfKerberos(t *testing.T) {
	id := hbase.Identity{Kerberos: login{}, CanonicalHost: func(host string) (string, error) { return host + ".Example.COM", nil }}
	_, err := hbase.FromConf(configure(t, nil), id)
	if err == nil || !strings.Contains(err.Error(), "hbase.master.kerberos.principal is not set") {
		t.Errorf("without principals: %v, want the property's name", err)
	}
	if _, err = hbase.FromConf(configure(t, map[string]string{"hbase.security.authentication": "simple"}), id); err == nil {
		t.Error("a Kerberos login under simple authentication was accepted")
	}
	o, err := hbase.FromConf(configure(t, map[string]string{
		"hbase.security.authentication": "kerberos", "hbase.master.kerberos.principal": "master@REALM",
		"hbase.regionserver.kerberos.principal": "hbase/_HOST@REALM",
	}), id)
	if err != nil {
		t.Fatal(err)
	}
	for service, want := range map[rpc.Service]string{
		rpc.MasterService: "master@REALM", rpc.ClientMetaService: "master@REALM",
		rpc.ClientService: "hbase/h.example.com@REALM", rpc.AdminService: "hbase/h.example.com@REALM",
	} {
		if got, err := o.RPC.ServerPrincipal(service, "h"); got != want || err != nil {
			t.Errorf("principal of %s: %s, %v, want %s", service, got, err, want)
		}
	}
}
