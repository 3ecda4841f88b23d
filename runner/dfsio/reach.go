package dfsio

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"time"

	"github.com/hadoop-bench/operator/runner/report"
	"github.com/hadoop-bench/operator/runner/steps"
)

const (
	// reachTimeout bounds looking for the target, so that a wrong address is known in seconds.
	reachTimeout = 10 * time.Second
	// probeTimeout bounds name lookup and connecting for one address.
	probeTimeout = 4 * time.Second
)

// reach finds out whether there is an active NameNode at the target's addresses, and connects to it.
func (s *step) reach(ctx context.Context) error {
	reachCtx, cancel := context.WithTimeout(ctx, reachTimeout)
	defer cancel()
	if err := s.probe(reachCtx); err != nil {
		return err
	}
	if err := s.connect(ctx, probeTimeout, 0); err != nil {
		return s.refused("connect to "+s.target.fs.URI, err)
	}
	return s.greet(reachCtx)
}

// greet makes the first call. Only its answer shows that the other side is an active NameNode.
func (s *step) greet(ctx context.Context) error {
	answer := make(chan error, 1)
	go func() {
		_, err := s.fs.Stat("/")
		answer <- err
	}()
	var err error
	select {
	case err = <-answer:
	case <-ctx.Done():
		// The call itself ends when the file system is closed, which the caller does next.
		err = context.Cause(ctx)
	}
	addresses := strings.Join(s.target.fs.Addresses, ", ")
	if err == nil || remote(err) != nil {
		if err != nil {
			return s.refused("ask "+addresses+" for its root directory", err)
		}
		return nil
	}
	if Class(err) == "StandbyException" {
		return s.refused("ask "+addresses+" for its root directory", err)
	}
	return &steps.Error{Exit: report.ExitTarget, Cause: err, Failure: report.Failure{
		Reason:  steps.ReasonNameNodeUnreachable,
		Message: fmt.Sprintf("%s accepts connections, but does not answer as a NameNode: %s", addresses, Text(err)),
		Remedy:  "give the port of the NameNode's RPC server (8020 by default), not that of its web pages",
	}}
}

// probe looks all addresses up and connects to each. One that works is enough: the others may be down.
func (s *step) probe(ctx context.Context) error {
	addresses := s.target.fs.Addresses
	failures := make([]error, len(addresses))
	var wait sync.WaitGroup
	for i, address := range addresses {
		wait.Go(func() { failures[i] = s.probeAddress(ctx, address) })
	}
	wait.Wait()
	unknown := 0
	for i, err := range failures {
		if err == nil {
			return nil
		}
		s.env.Log.Warn("NameNode cannot be reached", "address", addresses[i], "error", err)
		if dns := new(net.DNSError); errors.As(err, &dns) {
			unknown++
		}
	}
	texts := make([]string, len(failures))
	for i, err := range failures {
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

func (s *step) probeAddress(ctx context.Context, address string) error {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	lookup, dial := s.env.Network.LookupHost, s.env.Network.DialContext
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
