package nnthroughput_test

import (
	"testing"

	"github.com/hadoop-bench/operator/runner/hadoop/conf"
	"github.com/hadoop-bench/operator/runner/plan"
	"github.com/hadoop-bench/operator/runner/report"
	"github.com/hadoop-bench/operator/runner/steps"
)

// TestConnectRefuses: what cannot work is refused by name before anything is sent.
func TestConnectRefuses(t *testing.T) {
	tests := map[string]struct {
		properties map[string]string
		kerberos   *plan.Kerberos
		reason     string
		text       string
	}{
		"no file system":      {map[string]string{"fs.defaultFS": "file:///"}, nil, steps.ReasonConfigInvalid, `scheme "file" is not supported`},
		"Kerberos without us": {map[string]string{"hadoop.security.authentication": "kerberos"}, nil, steps.ReasonConfigInvalid, "hadoop.security.authentication"},
		"an odd protection":   {map[string]string{"hadoop.rpc.protection": "none"}, nil, steps.ReasonConfigInvalid, "hadoop.rpc.protection"},
		"no krb5.conf":        {nil, &plan.Kerberos{Principal: "alice@EXAMPLE.COM", Keytab: "/nowhere/keytab", Krb5Conf: "/nowhere/krb5.conf"}, steps.ReasonLoginFailed, "/nowhere/krb5.conf"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, newPlan(plan.StepPreflight))
			b.env.Connect = nil
			b.env.Plan.Target.Kerberos = tt.kerberos
			if tt.properties["fs.defaultFS"] != "" {
				b.env.Plan.Target.FS = ""
			}
			var err error
			if b.env.Conf, err = conf.Load(nil, conf.Options{Overrides: tt.properties}); err != nil {
				t.Fatal(err)
			}
			wantFailure(t, b.run(t), report.ExitPlan, tt.reason, tt.text)
		})
	}
}
