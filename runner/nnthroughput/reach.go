package nnthroughput

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"sync"
	"time"

	"github.com/hadoop-bench/operator/runner/report"
	"github.com/hadoop-bench/operator/runner/steps"
)

const (
	// reachTimeout bounds looking for the active NameNode, so that a wrong address is known in seconds.
	reachTimeout = 10 * time.Second
	// probeTimeout bounds name lookup and connecting for one address.
	probeTimeout = 4 * time.Second
)

// network is how NameNodes' addresses are looked at.
type network struct {
	lookup func(ctx context.Context, host string) ([]string, error)
	dial   func(ctx context.Context, network, address string) (net.Conn, error)
}

func systemNetwork() network {
	return network{lookup: net.DefaultResolver.LookupHost, dial: new(net.Dialer).DialContext}
}

// probe looks all addresses up and connects to each. One that works is enough: the others may be down.
func (n network) probe(ctx context.Context, log *slog.Logger, addresses []string) error {
	failures := make([]error, len(addresses))
	var wait sync.WaitGroup
	for i, address := range addresses {
		wait.Go(func() { failures[i] = n.probeAddress(ctx, address) })
	}
	wait.Wait()
	unknown := 0
	texts := make([]string, len(failures))
	for i, err := range failures {
		if err == nil {
			return nil
		}
		log.Warn("NameNode cannot be reached", "address", addresses[i], "error", err)
		if dns := new(net.DNSError); errors.As(err, &dns) {
			unknown++
		}
		texts[i] = fmt.Sprintf("%s: %v", addresses[i], err)
	}
	failure := report.Failure{
		Reason:  steps.ReasonNameNodeUnreachable,
		Message: "no NameNode can be reached: " + strings.Join(texts, "; "),
		Remedy:  "check the address in spec.target, that the NameNode runs, and that network policies let this namespace reach it",
	}
	if unknown == len(failures) {
		failure.Reason = steps.ReasonUnknownHost
		failure.Remedy = "correct the host name in spec.target; a Service of another namespace needs its namespace: <service>.<namespace>"
	}
	return &steps.Error{Exit: report.ExitTarget, Failure: failure, Cause: errors.Join(failures...)}
}

func (n network) probeAddress(ctx context.Context, address string) error {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return fmt.Errorf("split address: %w", err)
	}
	if _, err := n.lookup(ctx, host); err != nil {
		return fmt.Errorf("look up host: %w", err)
	}
	conn, err := n.dial(ctx, "tcp", address)
	if err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	return conn.Close()
}
