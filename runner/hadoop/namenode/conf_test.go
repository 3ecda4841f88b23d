package namenode_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/hadoop-bench/operator/runner/hadoop/conf"
	"github.com/hadoop-bench/operator/runner/hadoop/namenode"
	"github.com/hadoop-bench/operator/runner/hadoop/rpc"
	"github.com/hadoop-bench/operator/runner/hadoop/sasl"
)

// login is a Kerberos login that is never used.
type login struct{}

func (login) Principal() string { return "alice@EXAMPLE.COM" }
func (login) Close() error      { return nil }
func (login) Ticket(context.Context, string) (sasl.Ticket, error) {
	return sasl.Ticket{}, errors.New("not used")
}

func pair() conf.FileSystem {
	return conf.FileSystem{URI: "hdfs://ns", Addresses: []string{"a:1", "b:1"}}
}

func load(t *testing.T, properties map[string]string) *conf.Conf {
	t.Helper()
	c, err := conf.Load(nil, conf.Options{Overrides: properties})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestFromConf(t *testing.T) {
	defaults := namenode.Options{
		Addresses: []string{"a:1", "b:1"},
		RPC: rpc.Options{
			User: "alice", DialTimeout: 20 * time.Second, CallTimeout: 2 * time.Minute, PingInterval: time.Minute, MaxFrame: 134217728,
			Protection: []string{"authentication"},
		},
		Failover: namenode.Failover{MaxAttempts: 15, MaxRetries: 10, BaseSleep: 500 * time.Millisecond, MaxSleep: 15 * time.Second},
	}
	changed := defaults
	changed.RPC.DialTimeout, changed.RPC.CallTimeout, changed.RPC.PingInterval, changed.RPC.MaxFrame = 5*time.Second, 30*time.Second, 10*time.Second, 1<<20
	changed.RPC.Protection, changed.RPC.AllowSimpleFallback = []string{"privacy", "integrity"}, true
	changed.Failover = namenode.Failover{MaxAttempts: 3, MaxRetries: 4, BaseSleep: 10 * time.Millisecond, MaxSleep: 2 * time.Second}
	single := defaults
	single.Addresses = []string{"a:1"}
	single.Failover.MaxAttempts, single.Failover.Deadline = 10, 10*time.Second
	tests := map[string]struct {
		fs         conf.FileSystem
		properties map[string]string
		want       namenode.Options
	}{
		"nothing is set": {pair(), nil, defaults},
		"one NameNode":   {conf.FileSystem{Addresses: []string{"a:1"}}, nil, single},
		"everything is set": {pair(), map[string]string{
			"dfs.client.failover.max.attempts": "3", "dfs.client.retry.max.attempts": "4", "dfs.client.failover.sleep.base.millis": "10",
			"dfs.client.failover.sleep.max.millis": "2000", "ipc.client.connect.timeout": "5000", "ipc.client.rpc-timeout.ms": "30s",
			"ipc.ping.interval": "10000", "ipc.maximum.data.length": "1048576", "hadoop.rpc.protection": "Privacy, integrity",
			"ipc.client.fallback-to-simple-auth-allowed": "true", "hadoop.security.authentication": "Simple",
		}, changed},
		"no limit is the default limit": {pair(), map[string]string{"ipc.client.rpc-timeout.ms": "0"}, defaults},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := namenode.FromConf(load(t, tt.properties), tt.fs, namenode.Identity{User: "alice"})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("options (-want +got):\n%s", diff)
			}
		})
	}
}

func TestFromConfRefuses(t *testing.T) {
	kerberos := namenode.Identity{Kerberos: login{}}
	const principal = "dfs.namenode.kerberos.principal"
	tests := map[string]struct {
		name, value string
		identity    namenode.Identity
		want        string
	}{
		"attempts are no number":   {"dfs.client.failover.max.attempts", "many", namenode.Identity{}, `"many": not an integer`},
		"no attempts":              {"dfs.client.failover.max.attempts", "0", namenode.Identity{}, "dfs.client.failover.max.attempts: 0 is not between 1 and"},
		"retries":                  {"dfs.client.retry.max.attempts", "-1", namenode.Identity{}, "dfs.client.retry.max.attempts: -1"},
		"connects":                 {"ipc.client.connect.max.retries", "0", namenode.Identity{}, "ipc.client.connect.max.retries: 0"},
		"interval":                 {"ipc.client.connect.retry.interval", "x", namenode.Identity{}, `"x": not a time`},
		"sleep":                    {"dfs.client.failover.sleep.base.millis", "0", namenode.Identity{}, "sleep.base.millis: 0s is not between"},
		"longest sleep":            {"dfs.client.failover.sleep.max.millis", "2d", namenode.Identity{}, "sleep.max.millis: 48h0m0s is not between"},
		"connect timeout":          {"ipc.client.connect.timeout", "-5", namenode.Identity{}, "ipc.client.connect.timeout: -5ms"},
		"call timeout":             {"ipc.client.rpc-timeout.ms", "-1", namenode.Identity{}, "ipc.client.rpc-timeout.ms: -1ms"},
		"ping":                     {"ipc.ping.interval", "soon", namenode.Identity{}, `"soon": not a time`},
		"frame":                    {"ipc.maximum.data.length", "3000000000", namenode.Identity{}, "ipc.maximum.data.length: 3000000000"},
		"protection":               {"hadoop.rpc.protection", "authentication,secret", namenode.Identity{}, `hadoop.rpc.protection: "secret" is none of`},
		"fallback":                 {"ipc.client.fallback-to-simple-auth-allowed", "yes", namenode.Identity{}, `"yes": neither true nor false`},
		"authentication":           {"hadoop.security.authentication", "token", namenode.Identity{}, `"token" is neither simple nor kerberos`},
		"Kerberos without a login": {"hadoop.security.authentication", "kerberos", namenode.Identity{}, "no Kerberos principal with a keytab or a ticket cache is given"},
		"a login without Kerberos": {"hadoop.security.authentication", "simple", kerberos, "but a Kerberos principal is given"},
		"no principal":             {"hadoop.security.authentication", "kerberos", kerberos, "property dfs.namenode.kerberos.principal is not set"},
		"a principal of itself":    {principal, "${" + principal + "}", kerberos, "refers to itself"},
		"protection of itself":     {"hadoop.rpc.protection", "${hadoop.rpc.protection}", namenode.Identity{}, "refers to itself"},
		"authentication of itself": {"hadoop.security.authentication", "${hadoop.security.authentication}", namenode.Identity{}, "refers to itself"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := namenode.FromConf(load(t, map[string]string{tt.name: tt.value}), pair(), tt.identity)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want %q", err, tt.want)
			}
		})
	}
}

func TestServerPrincipal(t *testing.T) {
	broken := errors.New("no such host")
	identity := namenode.Identity{Kerberos: login{}, CanonicalHost: func(host string) (string, error) {
		if host == "gone" {
			return "", broken
		}
		return strings.ToUpper(host) + ".Example.com", nil
	}}
	tests := map[string]struct{ principal, host, want, err string }{
		"of the host":           {"nn/_HOST@EXAMPLE.COM", "nn1", "nn/nn1.example.com@EXAMPLE.COM", ""},
		"of no host":            {"nn/nn.ns.svc@EXAMPLE.COM", "gone", "nn/nn.ns.svc@EXAMPLE.COM", ""},
		"of a host not to find": {"nn/_HOST@EXAMPLE.COM", "gone", "", "find the full name of gone for property dfs.namenode.kerberos.principal"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			c := load(t, map[string]string{"hadoop.security.authentication": "kerberos", "dfs.namenode.kerberos.principal": tt.principal})
			o, err := namenode.FromConf(c, pair(), identity)
			if err != nil || o.RPC.Kerberos == nil {
				t.Fatalf("FromConf: %v", err)
			}
			got, err := o.RPC.ServerPrincipal(tt.host)
			if got != tt.want || (err == nil) != (tt.err == "") || err != nil && !strings.HasPrefix(err.Error(), tt.err) {
				t.Errorf("principal %q, %v; want %q, %q", got, err, tt.want, tt.err)
			}
		})
	}
}
