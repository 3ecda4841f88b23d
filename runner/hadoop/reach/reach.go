// Package reach finds out within seconds whether anything listens at the addresses of a name service, and says in a user's
// words what is wrong if not.
package reach

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
	// Timeout bounds looking for the active NameNode, so that a wrong address is known in seconds.
	Timeout = 10 * time.Second
	// AddressTimeout bounds name lookup and connecting for one address.
	AddressTimeout = 4 * time.Second
)

// Network is how addresses are looked at. What is not set is the system's.
type Network struct {
	LookupHost  func(ctx context.Context, host string) ([]string, error)
	DialContext func(ctx context.Context, network, address string) (net.Conn, error)
}

// Probe looks all addresses, host:port, up and connects to each. One that works is enough: the others may be down. The error
// is an *steps.Error that tells of each address.
func (n Network) Probe(ctx context.Context, log *slog.Logger, addresses []string) error {
	failures := make([]error, len(addresses))
	var wait sync.WaitGroup
	for i, address := range addresses {
		wait.Go(func() { failures[i] = n.probe(ctx, address) })
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

// probe looks at one address.
func (n Network) probe(ctx context.Context, address string) error {
	ctx, cancel := context.WithTimeout(ctx, AddressTimeout)
	defer cancel()
	lookup, dial := n.LookupHost, n.DialContext
	if lookup == nil {
		lookup = net.DefaultResolver.LookupHost
	}
	if dial == nil {
		dial = new(net.Dialer).DialContext
	}
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return fmt.Errorf("split address: %w", err)
	}
	if _, err := lookup(ctx, host); err != nil {
		return fmt.Errorf("look up host: %w", err)
	}
	conn, err := dial(ctx, "tcp", address)
	if err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	return conn.Close()
}
