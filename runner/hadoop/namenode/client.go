package namenode

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"google.golang.org/protobuf/proto"

	"github.com/hadoop-bench/operator/runner/hadoop/rpc"
	"github.com/hadoop-bench/operator/runner/hadoop/wire"
)

// Java names of the protocols.
const (
	clientProtocol   = "org.apache.hadoop.hdfs.protocol.ClientProtocol"
	dataNodeProtocol = "org.apache.hadoop.hdfs.server.protocol.DatanodeProtocol"
	nameNodeProtocol = "org.apache.hadoop.hdfs.server.protocol.NamenodeProtocol"
	refreshProtocol  = "org.apache.hadoop.security.RefreshUserMappingsProtocol"
)

// A Client is connected to a NameNode, or to the NameNodes of a name service. It may be used concurrently; its workers
// each by one goroutine at a time.
type Client struct {
	router *router
	sides  []*DataNodeSide
	close  context.CancelFunc
}

// Connect finds the active NameNode, waiting within Options.Failover for one to become it. Its errors are that nothing can
// be connected to with these options, or an UnreachableError that says what each address answered.
func Connect(ctx context.Context, o Options) (*Client, error) {
	o, err := o.complete()
	if err != nil {
		return nil, err
	}
	open, end := context.WithCancel(context.Background())
	c := &Client{router: &router{o: o, addresses: o.Addresses, open: open}, close: end}
	single := o.forOneAddress()
	for i := range o.Addresses {
		c.sides = append(c.sides, newDataNodeSide(single, o.Addresses[i:i+1], open))
	}
	if err := c.router.find(ctx); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

// Address is host:port of the NameNode that calls go to now.
func (c *Client) Address() string { return c.router.active() }

// Worker is the name service as thread i sees it. Threads share the connections evenly.
func (c *Client) Worker(i int) *Worker { return newWorker(c.router, i) }

// DataNodeSides are all NameNodes as DataNodes see them, in the order of Options.Addresses.
func (c *Client) DataNodeSides() []*DataNodeSide { return c.sides }

// Close ends all connections. Calls in flight fail and are not repeated.
func (c *Client) Close() error {
	c.close()
	return c.router.o.Caller.Close()
}

// forOneAddress is for calls that are for one NameNode of several: how often to turn to another means nothing there.
func (o Options) forOneAddress() Options {
	if len(o.Addresses) > 1 {
		o.Failover.Deadline = min(o.Failover.Deadline, defaultDeadlineSingle)
	}
	o.OnFailover = nil
	return o
}

// find makes the active NameNode the one that calls go to.
func (r *router) find(ctx context.Context) error {
	t := trial{began: r.o.Clock.Now()}
	for attempt := 1; ; attempt++ {
		active := 0
		active, t.answers = r.ask(ctx)
		if active >= 0 {
			r.epoch.Store(uint64(active))
			r.answerer = r.addresses[active]
			return nil
		}
		pause, ok := r.next(&t, elsewhere)
		if !ok || ctx.Err() != nil || hopeless(t.answers) {
			return r.unreachable(&rpc.Call{Method: methodState, Retry: int32(attempt - 1)}, &t)
		}
		if err := r.o.Clock.Wait(ctx, pause); err != nil {
			return fmt.Errorf("%s: wait to repeat it: %w", methodState, err)
		}
	}
}

// hopeless says whether one of the answers will stay the same however long we wait.
func hopeless(answers []error) bool {
	return slices.ContainsFunc(answers, func(err error) bool {
		state := new(StateError)
		return !errors.As(err, &state) && judge(err) == final
	})
}

// ask asks all NameNodes at once for their state, until one says that it is active. It returns that one's index, or -1 and
// what each answered instead.
func (r *router) ask(ctx context.Context) (active int, answers []error) {
	answers = make([]error, len(r.addresses))
	asking, enough := context.WithCancel(ctx)
	defer enough()
	var asked sync.WaitGroup
	for i, address := range r.addresses {
		asked.Go(func() {
			if answers[i] = r.isActive(asking, address); answers[i] == nil {
				enough()
			}
		})
	}
	asked.Wait()
	for i, err := range answers {
		if err == nil {
			return i, nil
		}
	}
	return -1, answers
}

const methodState = "getHAServiceState"

// isActive is nil if the NameNode at address is active. One that stands alone refuses to tell its state, and an old one does
// not know the question: such a one is active if it reads.
func (r *router) isActive(ctx context.Context, address string) error {
	state := &wire.HAServiceStateResponseProto{}
	err := r.single(ctx, address, methodState, &wire.HAServiceStateRequestProto{}, state)
	if remote := new(rpc.RemoteError); errors.As(err, &remote) && !remote.Fatal && judge(err) == final {
		request := &wire.GetFileInfoRequestProto{}
		request.SetSrc("/")
		return r.single(ctx, address, "getFileInfo", request, &wire.GetFileInfoResponseProto{})
	}
	if err == nil && state.GetState() != wire.HAServiceStateProto_ACTIVE {
		return &StateError{State: state.GetState().String()}
	}
	return err
}

// single makes one attempt of a call.
func (r *router) single(ctx context.Context, address, method string, request, response proto.Message) error {
	return r.o.Caller.Do(ctx, &rpc.Call{
		Address: address, Protocol: clientProtocol, Method: method, ID: r.o.Caller.NewCallID(), Request: request, Response: response,
	})
}
