package reach_test

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hadoop-bench/operator/runner/hadoop/reach"
	"github.com/hadoop-bench/operator/runner/report"
	"github.com/hadoop-bench/operator/runner/steps"
)

func TestProbe(t *testing.T) {
	network := reach.Network{
		LookupHost: func(_ context.Context, host string) ([]string, error) {
			if strings.HasPrefix(host, "no-") {
				return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
			}
			return []string{"198.51.100.1"}, nil
		},
		DialContext: func(_ context.Context, _, address string) (net.Conn, error) {
			if strings.HasPrefix(address, "down") {
				return nil, errors.New("connection refused")
			}
			c, _ := net.Pipe()
			return c, nil
		},
	}
	const (
		remedyAddress = "check the address in spec.target, that the NameNode runs, and that network policies let this namespace reach it"
		remedyName    = "correct the host name in spec.target; a Service of another namespace needs its namespace: <service>.<namespace>"
	)
	tests := map[string]struct {
		addresses []string
		want      *report.Failure // nil: reached
	}{
		"there":      {[]string{"nn:8020"}, nil},
		"one of two": {[]string{"down:8020", "nn:8020"}, nil},
		"down": {[]string{"down:8020"}, &report.Failure{
			Reason: steps.ReasonNameNodeUnreachable, Message: "no NameNode can be reached: down:8020: connect: connection refused", Remedy: remedyAddress,
		}},
		"no names": {[]string{"no-1:8020", "no-2:8020"}, &report.Failure{
			Reason:  steps.ReasonUnknownHost,
			Message: "no NameNode can be reached: no-1:8020: look up host: lookup no-1: no such host; no-2:8020: look up host: lookup no-2: no such host",
			Remedy:  remedyName,
		}},
		"down or no name": {[]string{"no-1:8020", "down:8020"}, &report.Failure{
			Reason:  steps.ReasonNameNodeUnreachable,
			Message: "no NameNode can be reached: no-1:8020: look up host: lookup no-1: no such host; down:8020: connect: connection refused",
			Remedy:  remedyAddress,
		}},
		"no port": {[]string{"nn"}, &report.Failure{
			Reason: steps.ReasonNameNodeUnreachable, Message: "no NameNode can be reached: nn: split address: address nn: missing port in address", Remedy: remedyAddress,
		}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			err := network.Probe(t.Context(), slog.New(slog.DiscardHandler), tt.addresses)
			var got *report.Failure
			if own := new(steps.Error); errors.As(err, &own) {
				got = &own.Failure
				if own.Exit != report.ExitTarget {
					t.Errorf("exit code %d", own.Exit)
				}
			} else if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestProbeOfTheSystem: with nothing set it is the machine's own network that is asked.
func TestProbeOfTheSystem(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	if err := (reach.Network{}).Probe(t.Context(), slog.New(slog.DiscardHandler), []string{listener.Addr().String()}); err != nil {
		t.Error(err)
	}
}
