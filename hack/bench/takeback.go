package main

import (
	"context"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/hadoop-bench/operator/runner/hadoop/namenode"
	"github.com/hadoop-bench/operator/runner/hadoop/rpc"
)

// aside is a port that no fake DataNode of a case has.
const aside = 40000

// takeBack removes the fake DataNodes that the original tool leaves behind, on the ports from 1 to n of this host: the
// runner refuses to replace DataNodes that it did not register. One UUID registered in turn at each address removes the
// others' entries; in the end its own is out of the way.
func takeBack(ctx context.Context, fs string, n int) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	address := strings.TrimPrefix(fs, "hdfs://")
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return fmt.Errorf("take the tool's DataNodes back: %w", err)
	}
	client, err := namenode.Connect(ctx, namenode.Options{Addresses: []string{address}, RPC: rpc.Options{User: "root"}})
	if err != nil {
		return fmt.Errorf("take the tool's DataNodes back: %w", err)
	}
	defer client.Close()
	side := client.DataNodeSides()[0]
	space, err := side.Version(ctx)
	if err != nil {
		return fmt.Errorf("take the tool's DataNodes back: %w", err)
	}
	register := func(port int) error {
		_, err := side.Register(ctx, namenode.Registration{
			DataNode: namenode.DataNode{
				IP: host, Host: host, UUID: "6d6b2f1e-0000-4000-8000-62656e636821", TransferPort: uint32(port),
				InfoPort: 9864, SecurePort: 9865, IPCPort: 9867,
			},
			Namespace: space, SoftwareVersion: space.SoftwareVersion,
		})
		return err
	}
	for port := 1; port <= n; port++ {
		if err := register(port); err != nil {
			return fmt.Errorf("take back DataNode %d: %w", port, err)
		}
	}
	return register(aside)
}
