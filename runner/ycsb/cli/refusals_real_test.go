package cli_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hadoop-bench/operator/runner/hadoop/sasl"
	"github.com/hadoop-bench/operator/runner/hbase"
	"github.com/hadoop-bench/operator/runner/report"
)

// TestRealRefusals: what cannot work is refused before the start, and the text tells what helps.
func TestRealRefusals(t *testing.T) {
	h := openReal(t, fromEnv(t, clusterEnv)[0])
	t.Parallel()
	table := h.create(t, "refusals")
	disabled := h.create(t, "disabled")
	if err := h.admin.Disable(t.Context(), disabled); err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		args   string
		reason string
		text   string
	}{
		"no table":     {"-p table=t_absent", "TableNotFound", `create it in the HBase shell: create 't_absent', 'f', SPLITS => ['user`},
		"no namespace": {"-p table=t_absent:t", "TableNotFound", `create it in the HBase shell: create_namespace 't_absent'; create 't_absent:t', 'f'`},
		"no family":    {"-p table=" + table + " -p columnfamily=g", "ColumnFamilyNotFound", "set columnfamily to one that the table has (f), or add it"},
		"disabled":     {"-p table=" + disabled, "TableDisabled", "enable it in the HBase shell: enable '" + disabled + "'"},
		"no ZooKeeper": {"-p hbase.zookeeper.quorum=127.0.0.1:1 -p table=" + table, "HBaseUnreachable", "is its ZooKeeper (now 127.0.0.1:1)"},
		"no HBase":     {"-p zookeeper.znode.parent=/absent -p table=" + table, "HBaseUnreachable", "zookeeper.znode.parent its path (now /absent)"},
		"no bootstrap server": {
			"-p hbase.client.registry.impl=RpcConnectionRegistry -p hbase.client.bootstrap.servers=127.0.0.1:1 -p table=" + table,
			"HBaseUnreachable", "hbase.client.bootstrap.servers names them: 127.0.0.1:1",
		},
	} {
		for _, phase := range []string{"load", "run"} {
			t.Run(phase+" with "+name, func(t *testing.T) {
				t.Parallel()
				r := h.ycsb(t, phase+" hbase -P workloads/workloada -threads 3", tc.args)
				stderr := r.stderr.String()
				if r.code != report.ExitTarget || !strings.Contains(stderr, "reason="+tc.reason) || !strings.Contains(stderr, tc.text) {
					t.Errorf("exit code %d, want reason %s and %q in\n%s", r.code, tc.reason, tc.text, stderr)
				}
				if r.stdout.String() != "" {
					t.Errorf("standard output:\n%s", r.stdout.String())
				}
			})
		}
	}
	t.Run("nothing was written", func(t *testing.T) { h.expectKeys(t, table, nil) })
}

// TestRealKerberos logs in by a keytab and by a ticket cache.
func TestRealKerberos(t *testing.T) {
	env := fromEnv(t, kerberosEnv, kerberosConfEnv)
	krb5Conf, keytab := filepath.Join(env[0], "krb5.conf"), filepath.Join(env[0], "keytabs", "alice.keytab")
	login, err := sasl.FromKeytab("alice", keytab, krb5Conf)
	if err != nil {
		t.Fatal(err)
	}
	h := openRealAs(t, env[1], hbase.Identity{Kerberos: login})
	cache := filepath.Join(t.TempDir(), "tickets")
	kinit := exec.CommandContext(t.Context(), "kinit", "-k", "-t", keytab, "-c", cache, "alice")
	kinit.Env = append(os.Environ(), "KRB5_CONFIG="+krb5Conf)
	if out, err := kinit.CombinedOutput(); err != nil {
		t.Fatalf("kinit: %v\n%s", err, out)
	}
	h.env["KRB5_CONFIG"], h.env["KRB5CCNAME"] = krb5Conf, cache
	byKeytab := " -p principal=alice@HB.TEST -p keytab=" + keytab
	for name, args := range map[string]string{
		"authentication":            byKeytab + " -p hbase.rpc.protection=authentication",
		"integrity, a ticket cache": " -p hbase.rpc.protection=integrity",
		"privacy":                   byKeytab + " -p hbase.rpc.protection=privacy",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h.measureWorkload(t, args, realWorkloads["c"], true)
		})
	}
	t.Run("no login", func(t *testing.T) {
		t.Parallel()
		none := &realHBase{env: map[string]string{"HBASE_CONF_DIR": env[1], "KRB5_CONFIG": krb5Conf, "KRB5CCNAME": cache + "-absent"}}
		for _, more := range []string{"", " -p principal=bob@HB.TEST -p keytab=" + keytab} {
			r := none.ycsb(t, "run hbase -P workloads/workloadc -p table=t_any", more)
			if r.code != report.ExitPlan || !strings.Contains(r.stderr.String(), "reason=LoginFailed") || r.stdout.String() != "" {
				t.Errorf("%s: exit code %d\n%s", more, r.code, r.stderr.String())
			}
		}
	})
}
