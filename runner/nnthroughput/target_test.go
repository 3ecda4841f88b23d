package nnthroughput_test

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"strings"
	"testing"

	"github.com/hadoop-bench/operator/runner/hadoop/conf"
	"github.com/hadoop-bench/operator/runner/nnthroughput"
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

func TestProbe(t *testing.T) {
	known := func(_ context.Context, host string) ([]string, error) {
		if strings.HasPrefix(host, "no-") {
			return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
		}
		return []string{"198.51.100.1"}, nil
	}
	dial := func(_ context.Context, _, address string) (net.Conn, error) {
		if strings.HasPrefix(address, "down") {
			return nil, errors.New("connection refused")
		}
		c, _ := net.Pipe()
		return c, nil
	}
	tests := map[string]struct {
		addresses []string
		reason    string // empty: reached
		text      string
	}{
		"there":           {[]string{"nn:8020"}, "", ""},
		"one of two":      {[]string{"down:8020", "nn:8020"}, "", ""},
		"down":            {[]string{"down:8020"}, steps.ReasonNameNodeUnreachable, "down:8020: connect: connection refused"},
		"no name":         {[]string{"no-1:8020", "no-2:8020"}, steps.ReasonUnknownHost, "no-2:8020: look up host"},
		"down or no name": {[]string{"no-1:8020", "down:8020"}, steps.ReasonNameNodeUnreachable, "no-1:8020: look up host"},
		"no port":         {[]string{"nn"}, steps.ReasonNameNodeUnreachable, "nn: split address"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			err := nnthroughput.Probe(t.Context(), slog.New(slog.DiscardHandler), tt.addresses, known, dial)
			if tt.reason != "" {
				wantFailure(t, err, report.ExitTarget, tt.reason, tt.text)
			} else if err != nil {
				t.Errorf("Probe: %v", err)
			}
		})
	}
}
