package registry

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"sync/atomic"

	"google.golang.org/protobuf/proto"

	"github.com/hadoop-bench/operator/runner/hbase/rpc"
	"github.com/hadoop-bench/operator/runner/hbase/wire"
)

// remote asks HBase's servers by RPC.
type remote struct {
	config Config
	client *rpc.Client
	next   atomic.Uint32 // the server that answered last, so that dead ones are not asked first each time
}

// HBase 1 has no GetActiveMaster; GetMasters is there in all versions.
const (
	methodMeta      = "GetMetaRegionLocations"
	methodMaster    = "GetActiveMaster"
	methodMasters   = "GetMasters"
	methodClusterID = "GetClusterId"
)

func (r *remote) MetaServer(ctx context.Context) (s Server, err error) {
	resp := new(wire.GetMetaRegionLocationsResponse)
	err = r.ask(ctx, methodMeta, func(ctx context.Context, address string) error {
		proto.Reset(resp)
		if err := r.invoke(ctx, address, methodMeta, new(wire.GetMetaRegionLocationsRequest), resp); err != nil {
			return err
		}
		for _, l := range resp.GetMetaLocations() {
			if l.GetRegionInfo().GetReplicaId() == 0 && l.GetServerName().GetHostName() != "" {
				s, err = server(l.GetServerName())
				return err
			}
		}
		return errors.New("it does not know where hbase:meta is; is the cluster starting?")
	})
	return s, err
}

func (r *remote) Master(ctx context.Context) (s Server, err error) {
	err = r.ask(ctx, methodMaster, func(ctx context.Context, address string) error {
		name, err := r.activeMaster(ctx, address)
		if err == nil {
			s, err = server(name)
		}
		return err
	})
	return s, err
}

// activeMaster asks one server, in the way of HBase 1 if it does not understand the one of today.
func (r *remote) activeMaster(ctx context.Context, address string) (*wire.ServerName, error) {
	var refused *rpc.RemoteError
	today := new(wire.GetActiveMasterResponse)
	err := r.invoke(ctx, address, methodMaster, new(wire.GetActiveMasterRequest), today)
	if err == nil && today.GetServerName().GetHostName() != "" {
		return today.GetServerName(), nil
	}
	if err != nil && !errors.As(err, &refused) {
		return nil, err
	}
	all := new(wire.GetMastersResponse)
	if again := r.invoke(ctx, address, methodMasters, new(wire.GetMastersRequest), all); again != nil {
		return nil, errors.Join(err, again)
	}
	for _, m := range all.GetMasterServers() {
		if m.GetIsActive() {
			return m.GetServerName(), nil
		}
	}
	return nil, errors.New("it knows no active master; is the cluster starting?")
}

func (r *remote) ClusterID(ctx context.Context) (string, error) {
	resp := new(wire.GetClusterIdResponse)
	err := r.ask(ctx, methodClusterID, func(ctx context.Context, address string) error {
		return r.invoke(ctx, address, methodClusterID, new(wire.GetClusterIdRequest), resp)
	})
	return resp.GetClusterId(), err
}

func (r *remote) Close() error { return nil }

func (r *remote) invoke(ctx context.Context, address, method string, req, resp proto.Message) error {
	return r.client.Invoke(ctx, address, rpc.ClientMetaService, method, req, resp, r.config.Timeout)
}

// ask puts a question to one server after the other, beginning with the one that answered last.
func (r *remote) ask(ctx context.Context, method string, question func(context.Context, string) error) error {
	ctx, cancel := context.WithTimeout(ctx, r.config.Timeout)
	defer cancel()
	var failed []string
	var last error
	for range r.config.Servers {
		i := r.next.Load()
		address := r.config.Servers[int(i)%len(r.config.Servers)]
		err := question(ctx, address)
		if err == nil {
			return nil
		}
		failed, last = append(failed, fmt.Sprintf("%s: %v", address, err)), err
		if ctx.Err() != nil {
			break
		}
		r.next.CompareAndSwap(i, i+1)
	}
	return &AskError{Method: method, Tried: failed, Err: last}
}

// An AskError says that no server answered a question.
type AskError struct {
	Method string
	Tried  []string // each address with what it said
	Err    error    // of the last one
}

// Error names the servers, what they said, and what can be done.
func (e *AskError) Error() string {
	return fmt.Sprintf("ask HBase's servers by %s: %s; check hbase.client.bootstrap.servers (of HBase 1 only masters answer, see hbase.masters)",
		e.Method, strings.Join(e.Tried, "; "))
}

// Unwrap returns the last server's error.
func (e *AskError) Unwrap() error { return e.Err }

func server(n *wire.ServerName) (Server, error) {
	if n.GetHostName() == "" || n.GetPort() == 0 || n.GetPort() > serverPort {
		return Server{}, fmt.Errorf("it names a server %q with port %d", n.GetHostName(), n.GetPort())
	}
	return Server{
		Address:   net.JoinHostPort(n.GetHostName(), strconv.FormatUint(uint64(n.GetPort()), 10)),
		StartCode: int64(n.GetStartCode()),
	}, nil
}
