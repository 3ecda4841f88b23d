package nnthroughput_test

import (
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hadoop-bench/operator/runner/hadoop/conf"
	"github.com/hadoop-bench/operator/runner/hadoop/namenode"
	"github.com/hadoop-bench/operator/runner/hadoop/sasl"
	"github.com/hadoop-bench/operator/runner/nnthroughput"
	"github.com/hadoop-bench/operator/runner/plan"
	"github.com/hadoop-bench/operator/runner/report"
	"github.com/hadoop-bench/operator/runner/steps"
)

// A real Kerberos realm, HB.TEST, for these tests: a directory with krb5.conf and keytabs/<name>.keytab, and one NameNode
// for each value of hadoop.rpc.protection: "authentication=host:port,...". alice is a superuser of HDFS, bob is not.
const (
	kerberosEnv   = "HADOOPBENCH_TEST_KERBEROS"
	kerberosNNEnv = "HADOOPBENCH_TEST_KERBEROS_NN"
)

// realm is one NameNode of it, which protects in one way only.
type realm struct {
	*cluster
	dir        string
	protection string
	properties map[string]string // the client's configuration
}

// eachProtection runs a test against each NameNode.
func eachProtection(t *testing.T, test func(t *testing.T, r *realm)) {
	t.Helper()
	t.Parallel()
	dir, list := os.Getenv(kerberosEnv), os.Getenv(kerberosNNEnv)
	if dir == "" || list == "" {
		t.Skipf("%s or %s is not set", kerberosEnv, kerberosNNEnv)
	}
	for entry := range strings.SplitSeq(list, ",") {
		word, address, _ := strings.Cut(entry, "=")
		host, _, _ := strings.Cut(address, ":")
		t.Run(word, func(t *testing.T) {
			t.Parallel()
			test(t, &realm{
				cluster: &cluster{
					t: t, uri: "hdfs://" + address,
					base: fmt.Sprintf("/nnThroughputBenchmark/kerberos-%s/%d", path.Base(path.Dir(t.Name())), time.Now().UnixNano()),
				},
				dir: dir, protection: word,
				properties: map[string]string{
					"hadoop.security.authentication": "kerberos", "hadoop.rpc.protection": word,
					"dfs.namenode.kerberos.principal": "nn/" + host + "@HB.TEST",
				},
			})
		})
	}
}

// as is the Kerberos part of a plan.
func (r *realm) as(user string) *plan.Kerberos {
	return &plan.Kerberos{
		Principal: user + "@HB.TEST", Keytab: filepath.Join(r.dir, "keytabs", user+".keytab"), Krb5Conf: filepath.Join(r.dir, "krb5.conf"),
	}
}

// configuration is the client's, with some properties changed.
func (r *realm) configuration(change map[string]string) *conf.Conf {
	r.t.Helper()
	overrides := maps.Clone(r.properties)
	maps.Copy(overrides, change)
	c, err := conf.Load(nil, conf.Options{Overrides: overrides})
	if err != nil {
		r.t.Fatal(err)
	}
	return c
}

// look connects the test's own eyes, as a superuser.
func (r *realm) look() {
	r.t.Helper()
	k := r.as("alice")
	login, err := sasl.FromKeytab(k.Principal, k.Keytab, k.Krb5Conf)
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { _ = login.Close() })
	c := r.configuration(nil)
	fs, err := c.FileSystem(r.uri)
	if err != nil {
		r.t.Fatal(err)
	}
	r.nn = connectAs(r.t, c, fs, namenode.Identity{Kerberos: login})
}

// step is a plan that a user runs.
func (r *realm) step(step, user string, operations ...string) *plan.Plan {
	p := r.plan(step, func(n *plan.NNThroughput) { n.Operations, n.HTTP = operations, nil })
	p.Target.Kerberos = r.as(user)
	return p
}

// all carries out a whole run.
func (r *realm) all(user string, operations ...string) (facts map[string]string) {
	r.t.Helper()
	for _, step := range slices.Concat([]string{plan.StepPreflight}, operations, []string{plan.StepCleanup}) {
		bodies, err := r.run(r.step(step, user, operations...), r.configured(nil))
		if err != nil {
			r.t.Fatalf("step %s: %v", step, err)
		}
		if step == plan.StepPreflight {
			facts = bodies[0].Facts
		}
		if !slices.Contains(operations, step) {
			continue
		}
		done, want := int64(0), int64(40)
		if step == plan.OpBlockReport {
			want = 17
		}
		for _, b := range bodies {
			done += b.Operations
			if b.Planned != b.Operations || len(b.Errors) > 0 {
				r.t.Errorf("%s: %d of %d operations, errors %v", step, b.Operations, b.Planned, b.Errors)
			}
		}
		if done != want {
			r.t.Errorf("%s: %d operations, want %d", step, done, want)
		}
	}
	return facts
}

// configured changes a step's configuration.
func (r *realm) configured(change map[string]string) func(*nnthroughput.Env) {
	c := r.configuration(change)
	return func(env *nnthroughput.Env) { env.Conf = c }
}

// TestKerberosRun: a superuser's run, by each kind of protection.
func TestKerberosRun(t *testing.T) {
	eachProtection(t, func(t *testing.T, r *realm) {
		r.look()
		facts := r.all("alice", plan.OpCreate, plan.OpOpen, plan.OpBlockReport)
		if facts["user"] != "alice@HB.TEST" || facts["liveDataNodes"] == "" {
			t.Errorf("facts %v", facts)
		}
		r.gone(r.base)
	})
}

// TestKerberosOrdinaryUser: who is no superuser runs in a directory where he may write.
func TestKerberosOrdinaryUser(t *testing.T) {
	eachProtection(t, func(t *testing.T, r *realm) {
		r.look()
		open := r.base
		if ok, err := r.nn.Mkdirs(t.Context(), open, 0o777, true); err != nil || !ok {
			t.Fatal(err)
		}
		r.base += "/own"
		facts := r.all("bob", plan.OpRename)
		if facts["user"] != "bob@HB.TEST" || facts["liveDataNodes"] != "unknown (not permitted)" {
			t.Errorf("facts %v", facts)
		}
		r.gone(r.base)
		if _, err := r.nn.Delete(t.Context(), open, false); err != nil {
			t.Error(err)
		}
	})
}

// TestKerberosRefuses: preflight says within seconds what does not fit, and what to do.
func TestKerberosRefuses(t *testing.T) {
	words := []string{"authentication", "integrity", "privacy"}
	open, _, _ := strings.Cut(os.Getenv(nnEnv), ",")
	if open == "" {
		t.Skipf("%s is not set", nnEnv)
	}
	open = open[strings.Index(open, "=")+1 : strings.LastIndex(open, ":")]
	eachProtection(t, func(t *testing.T, r *realm) {
		other := words[(slices.Index(words, r.protection)+1)%len(words)]
		noKDC := filepath.Join(t.TempDir(), "krb5.conf")
		if err := os.WriteFile(noKDC, []byte("[libdefaults]\n default_realm = HB.TEST\n[realms]\n HB.TEST = {\n  kdc = 127.0.0.1:1\n }\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		tests := map[string]struct {
			change     func(*plan.Plan)
			properties map[string]string
			exit       int
			reason     string
			text       string
		}{
			"another's keytab": {
				func(p *plan.Plan) { p.Target.Kerberos.Keytab = r.as("bob").Keytab },
				nil, report.ExitPlan, steps.ReasonLoginFailed, "alice@HB.TEST",
			},
			"a principal that the realm does not know": {
				func(p *plan.Plan) { p.Target.Kerberos.Principal = "nobody@HB.TEST" },
				nil, report.ExitPlan, steps.ReasonLoginFailed, "nobody@HB.TEST",
			},
			"no keytab": {
				func(p *plan.Plan) { p.Target.Kerberos.Keytab += ".none" },
				nil, report.ExitPlan, steps.ReasonLoginFailed, "alice.keytab.none",
			},
			"no KDC": {
				func(p *plan.Plan) { p.Target.Kerberos.Krb5Conf = noKDC },
				nil, report.ExitTarget, steps.ReasonLoginFailed, "127.0.0.1:1",
			},
			"no Kerberos in the plan": {
				func(p *plan.Plan) { p.Target.Kerberos = nil },
				nil, report.ExitPlan, steps.ReasonConfigInvalid, "hadoop.security.authentication",
			},
			"no Kerberos at all": {
				func(p *plan.Plan) { p.Target.Kerberos = nil },
				map[string]string{"hadoop.security.authentication": "simple"},
				report.ExitTarget, steps.ReasonLoginFailed, "SIMPLE authentication is not enabled",
			},
			"another NameNode": {
				func(*plan.Plan) {},
				map[string]string{"dfs.namenode.kerberos.principal": "nn/elsewhere@HB.TEST"},
				report.ExitTarget, steps.ReasonLoginFailed, "dfs.namenode.kerberos.principal says nn/elsewhere@HB.TEST",
			},
			"another protection": {
				func(*plan.Plan) {},
				map[string]string{"hadoop.rpc.protection": other},
				report.ExitTarget, steps.ReasonLoginFailed, "hadoop.rpc.protection is " + other + " here, but the server offers only " + r.protection,
			},
			"a NameNode without Kerberos": {
				func(p *plan.Plan) { p.Target.FS = "hdfs://" + open },
				nil, report.ExitTarget, steps.ReasonLoginFailed, "so anybody could be that server",
			},
			"no right to write": {
				func(p *plan.Plan) {
					p.Target.Kerberos, p.NNThroughput.BaseDirs = r.as("bob"), []string{"/of-the-superuser"}
				},
				nil, report.ExitTarget, steps.ReasonPermissionDenied, `as user "bob@HB.TEST"`,
			},
		}
		for name, tt := range tests {
			if name != "another protection" && r.protection != "privacy" {
				continue // the same at each, and some are tried again for a few seconds
			}
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				p := r.step(plan.StepPreflight, "alice", plan.OpCreate)
				tt.change(p)
				_, err := r.run(p, r.configured(tt.properties))
				wantFailure(t, err, tt.exit, tt.reason, tt.text)
			})
		}
	})
}
