package dfsio

import (
	"context"
	"fmt"
	"strings"

	"github.com/hadoop-bench/operator/runner/hadoop/reach"
	"github.com/hadoop-bench/operator/runner/report"
	"github.com/hadoop-bench/operator/runner/steps"
)

// reach finds out whether there is an active NameNode at the target's addresses, and connects to it.
func (s *step) reach(ctx context.Context) error {
	reachCtx, cancel := context.WithTimeout(ctx, reach.Timeout)
	defer cancel()
	if err := s.env.Network.Probe(reachCtx, s.env.Log, s.target.fs.Addresses); err != nil {
		return err
	}
	if err := s.connect(ctx, reach.AddressTimeout, 0); err != nil {
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
