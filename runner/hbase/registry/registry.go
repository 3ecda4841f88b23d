// Package registry finds the two servers that everything else starts from: the one that serves hbase:meta and the active
// master. It asks ZooKeeper, or HBase's own servers by RPC, as the configuration says.
package registry

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/hadoop-bench/operator/runner/hbase/rpc"
)

// A Server is one of HBase's.
type Server struct {
	Address   string // host:port
	StartCode int64  // when it was started, in milliseconds since the epoch; 0 if not told
}

// A Registry says where things are now. It may be used concurrently; each question is bounded by Config.Timeout.
type Registry interface {
	// MetaServer is the server of hbase:meta.
	MetaServer(ctx context.Context) (Server, error)
	// Master is the active master.
	Master(ctx context.Context) (Server, error)
	// ClusterID is the identity that the cluster gave itself when it was made.
	ClusterID(ctx context.Context) (string, error)
	// Close frees what is kept between questions.
	Close() error
}

// A Kind is a way to ask.
type Kind uint8

// The ways to ask.
const (
	ZooKeeper Kind = iota
	RPC
)

// Config says whom to ask. The zero value of a field means the default that is said beside it.
type Config struct {
	Kind Kind
	// Quorum are ZooKeeper's servers, each host:port.
	Quorum []string
	// Parent is the znode under which HBase keeps its own. Default: /hbase.
	Parent string
	// SessionTimeout is asked of ZooKeeper; a session lives only for one question. Default: 90 s.
	SessionTimeout time.Duration
	// Servers are asked by RPC, each host:port: masters or, since HBase 2.5, RegionServers.
	Servers []string
	// Timeout bounds each question. Default: 10 s.
	Timeout time.Duration
}

// Defaults of Config.
const (
	DefaultParent         = "/hbase"
	DefaultSessionTimeout = 90 * time.Second
	DefaultTimeout        = 10 * time.Second
)

// Open makes the registry that c describes. It connects to nothing. client is used by the kind RPC only.
func Open(c Config, client *rpc.Client) (Registry, error) {
	if c.Timeout <= 0 {
		c.Timeout = DefaultTimeout
	}
	if c.Kind == RPC {
		if len(c.Servers) == 0 {
			return nil, errors.New("no server to ask where HBase is: set hbase.client.bootstrap.servers or hbase.masters, each entry host:port")
		}
		return &remote{config: c, client: client}, nil
	}
	if len(c.Quorum) == 0 {
		return nil, errors.New("no ZooKeeper server to ask where HBase is: set hbase.zookeeper.quorum")
	}
	if c.Parent == "" {
		c.Parent = DefaultParent
	}
	if !strings.HasPrefix(c.Parent, "/") {
		return nil, fmt.Errorf("zookeeper.znode.parent %q: a path that begins with / is needed, such as %s", c.Parent, DefaultParent)
	}
	if c.SessionTimeout <= 0 {
		c.SessionTimeout = DefaultSessionTimeout
	}
	return &zooKeeper{config: c}, nil
}
