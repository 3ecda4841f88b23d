package admin

import (
	"context"
	"errors"
	"fmt"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/hadoop-bench/operator/runner/hadoop/sasl"
	"github.com/hadoop-bench/operator/runner/hbase"
	"github.com/hadoop-bench/operator/runner/hbase/rpc"
)

const (
	pollFirst = 50 * time.Millisecond // between two questions whether something is done; it doubles
	pollMost  = time.Second
)

// poll asks until the answer is true or an error that lasts. What keeps it waiting is told if the context ends.
func (a *Admin) poll(ctx context.Context, ask func() (done bool, waiting string, err error)) error {
	for pause := pollFirst; ; pause = min(2*pause, pollMost) {
		done, waiting, err := ask()
		switch {
		case err != nil && !passes(err):
			return err
		case err != nil:
			waiting = err.Error()
		case done:
			return nil
		}
		if err := a.options.Clock.Wait(ctx, pause); err != nil {
			return fmt.Errorf("%w, waiting: %s", err, waiting)
		}
	}
}

// master calls the active master, wherever that is. A call that may have been carried out is sent again: the requests that
// change something carry a nonce, by which the master recognises them.
func (a *Admin) master(ctx context.Context, method string, request, response proto.Message) error {
	return a.poll(ctx, func() (bool, string, error) {
		address, err := a.cluster.Master(ctx)
		if err != nil { // while one master takes over from another there is none
			return false, err.Error(), nil
		}
		return true, "", a.call(ctx, rpc.MasterService, address, method, request, response)
	})
}

// regions are those of a table in hbase:meta, none if it does not exist.
func (a *Admin) regions(ctx context.Context, table string) ([]hbase.LocatedRegion, error) {
	regions, err := a.cluster.Regions(ctx, table)
	if errors.Is(err, hbase.ErrTableNotFound) {
		return nil, nil
	}
	return regions, err
}

// server calls a RegionServer, once.
func (a *Admin) server(ctx context.Context, address, method string, request, response proto.Message) error {
	return a.call(ctx, rpc.AdminService, address, method, request, response)
}

func (a *Admin) call(ctx context.Context, service rpc.Service, address, method string, request, response proto.Message) error {
	param, err := proto.Marshal(request)
	if err != nil {
		return fmt.Errorf("encode request of %s: %w", method, err)
	}
	call := rpc.Call{Address: address, Service: service, Method: method, Param: param, Timeout: a.options.CallTimeout}
	if err := a.cluster.Do(ctx, &call); err != nil {
		return err
	}
	if err := proto.Unmarshal(call.Body, response); err != nil {
		return fmt.Errorf("decode answer of %s: %w", method, err)
	}
	return nil
}

// passes says whether an error may be gone at the next attempt: the server is starting, is not the right one any more, or
// cannot be reached.
func passes(err error) bool {
	if remote := new(rpc.RemoteError); errors.As(err, &remote) {
		switch remote.Simple() {
		case "PleaseHoldException", "MasterNotRunningException", "ServerNotRunningYetException", "RegionServerStoppedException",
			"RegionServerAbortedException", "NotServingRegionException", "RegionMovedException", "RegionOpeningException",
			"CallQueueTooBigException", "RegionTooBusyException", "ServerTooBusyException":
			return true
		}
		return false
	}
	if login := new(sasl.LoginError); errors.As(err, &login) {
		return false
	}
	connect, lost := new(rpc.ConnectError), new(rpc.LostError)
	return errors.Is(err, errOffline) || errors.As(err, &connect) || errors.As(err, &lost)
}
