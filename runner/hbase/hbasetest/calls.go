package hbasetest

import (
	"fmt"
	"net"
	"strconv"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/hadoop-bench/operator/runner/hbase/cell"
	"github.com/hadoop-bench/operator/runner/hbase/wire"
)

// startCode is that of all servers.
const startCode = 1700000000000

// A reply is what an answer is made of.
type reply struct{ exception, body, cells []byte }

func message(m proto.Message, cells []byte) (*reply, error) {
	body, err := proto.Marshal(m)
	return &reply{body: body, cells: cells}, err
}

func refusal(e *Exception) (*reply, error) {
	b := wire.ExceptionResponse_builder{
		ExceptionClassName: proto.String(e.Class),
		StackTrace:         proto.String(e.Class + ": " + e.Message + "\n\tat fake.Server.call(Server.java:1)"),
		DoNotRetry:         proto.Bool(e.DoNotRetry),
	}
	if e.Host != "" {
		b.Hostname, b.Port = proto.String(e.Host), proto.Int32(int32(e.Port))
	}
	if e.Overloaded {
		b.ServerOverloaded = proto.Bool(true)
	}
	exception, err := proto.Marshal(b.Build())
	return &reply{exception: exception}, err
}

// call carries out a request. Neither a reply nor an error: there is no answer.
func (s *server) call(method string, param, cells []byte) (*reply, error) {
	switch method {
	case "GetMetaRegionLocations", "GetActiveMaster", "GetMasters", "GetClusterId":
		return s.registryCall(method)
	case "Get":
		return s.get(param)
	case "Mutate":
		return s.mutate(param, cells)
	case "Multi":
		return s.multi(param, cells)
	case "Scan":
		return s.scan(param)
	}
	return refusal(&Exception{Class: "org.apache.hadoop.hbase.DoNotRetryIOException", Message: "unknown method " + method, DoNotRetry: true})
}

func (s *server) registryCall(method string) (*reply, error) {
	c := s.cluster
	c.mu.Lock()
	defer c.mu.Unlock()
	c.calls[method]++
	master := serverName(c.servers[len(c.servers)-1].address)
	switch {
	case method == "GetMetaRegionLocations":
		return message(wire.GetMetaRegionLocationsResponse_builder{MetaLocations: []*wire.RegionLocation{wire.RegionLocation_builder{
			RegionInfo: regionInfo(&region{table: &table{Table: Table{Name: "hbase:meta"}}, id: 1}),
			ServerName: serverName(c.servers[c.metaAt].address), SeqNum: proto.Int64(1),
		}.Build()}}.Build(), nil)
	case method == "GetClusterId":
		return message(wire.GetClusterIdResponse_builder{ClusterId: proto.String("fake")}.Build(), nil)
	case method == "GetMasters":
		return message(wire.GetMastersResponse_builder{MasterServers: []*wire.GetMastersResponseEntry{
			wire.GetMastersResponseEntry_builder{ServerName: master, IsActive: proto.Bool(true)}.Build(),
		}}.Build(), nil)
	case c.o.Old:
		return refusal(&Exception{Class: "org.apache.hadoop.hbase.DoNotRetryIOException", Message: "unknown method " + method, DoNotRetry: true})
	}
	return message(wire.GetActiveMasterResponse_builder{ServerName: master}.Build(), nil)
}

func split(address string) (host string, port int) {
	host, text, err := net.SplitHostPort(address)
	if err != nil {
		return "", 0
	}
	port, err = strconv.Atoi(text)
	if err != nil {
		return "", 0
	}
	return host, port
}

func serverName(address string) *wire.ServerName {
	host, port := split(address)
	return wire.ServerName_builder{
		HostName: proto.String(host), Port: proto.Uint32(uint32(port)), StartCode: proto.Uint64(startCode),
	}.Build()
}

// fault counts a request for data and asks what shall happen to it. The cluster must not be locked.
func (s *server) fault(method, regionName string) Fault {
	c := s.cluster
	n := c.count.Add(1)
	c.mu.Lock()
	c.calls[method]++
	tableName := ""
	for _, r := range c.regions {
		if r.name() == regionName {
			tableName = r.table.Name
		}
	}
	c.mu.Unlock()
	if c.o.Fault == nil {
		return Fault{}
	}
	return c.o.Fault(Request{Server: s.number, Method: method, Table: tableName, Region: regionName, Count: n})
}

// answerUnless carries out a request as its fault wants it.
func answerUnless(f Fault, carryOut func() (*reply, error)) (*reply, error) {
	switch {
	case f.Drop:
		return nil, errDrop
	case f.Silent:
		return nil, nil
	case f.Exception != nil:
		return refusal(f.Exception)
	}
	r, err := carryOut()
	if f.Lose && err == nil {
		return nil, errDrop
	}
	return r, err
}

func (s *server) get(param []byte) (*reply, error) {
	req := new(wire.GetRequest)
	if err := proto.Unmarshal(param, req); err != nil {
		return nil, err
	}
	name := string(req.GetRegion().GetValue())
	if name == metaName {
		return s.getMeta(req.GetGet())
	}
	return answerUnless(s.fault("Get", name), func() (*reply, error) {
		s.cluster.mu.Lock()
		defer s.cluster.mu.Unlock()
		r, exception := s.serving(name)
		if exception != nil {
			return refusal(exception)
		}
		result, cells, exception := r.get(nil, req.GetGet())
		if exception != nil {
			return refusal(exception)
		}
		return message(wire.GetResponse_builder{Result: result}.Build(), cells)
	})
}

// get appends a row's cells.
func (r *region) get(cells []byte, g *wire.Get) (*wire.Result, []byte, *Exception) {
	var wanted columns
	if len(g.GetColumn()) > 0 {
		wanted = columns{string(g.GetColumn()[0].GetFamily()), g.GetColumn()[0].GetQualifier()}
	}
	if e := r.check(string(g.GetRow()), wanted.family); e != nil {
		return nil, cells, e
	}
	cells, n := r.table.appendRow(cells, string(g.GetRow()), wanted)
	return wire.Result_builder{AssociatedCellCount: proto.Int32(int32(n))}.Build(), cells, nil
}

func (s *server) mutate(param, block []byte) (*reply, error) {
	req := new(wire.MutateRequest)
	if err := proto.Unmarshal(param, req); err != nil {
		return nil, err
	}
	name := string(req.GetRegion().GetValue())
	return answerUnless(s.fault("Mutate", name), func() (*reply, error) {
		s.cluster.mu.Lock()
		defer s.cluster.mu.Unlock()
		r, exception := s.serving(name)
		if exception == nil {
			_, exception = s.cluster.mutate(r, req.GetMutation(), block)
		}
		if exception != nil {
			return refusal(exception)
		}
		return message(wire.MutateResponse_builder{Processed: proto.Bool(true)}.Build(), nil)
	})
}

// mutate carries out a mutation whose cells are the first of block, and returns the rest.
func (c *Cluster) mutate(r *region, m *wire.MutationProto, block []byte) ([]byte, *Exception) {
	rest, cells, exception := takeCells(block, int(m.GetAssociatedCellCount()))
	if exception != nil {
		return rest, exception
	}
	for _, k := range cells {
		put := m.GetMutateType() == wire.MutationProto_PUT
		if string(k.Row) != string(m.GetRow()) || put != (k.Type == cell.Put) || k.Timestamp != cell.LatestTimestamp {
			return rest, &Exception{Class: "org.apache.hadoop.hbase.DoNotRetryIOException", Message: fmt.Sprintf("unexpected cell %v", k), DoNotRetry: true}
		}
		if e := r.check(string(k.Row), string(k.Family)); e != nil {
			return rest, e
		}
	}
	c.apply(r.table, cells)
	return rest, nil
}

func takeCells(block []byte, n int) (rest []byte, cells []cell.Cell, e *Exception) {
	reader := cell.NewReader(block)
	for range n {
		var k cell.Cell
		if !reader.Next(&k) {
			return nil, nil, &Exception{Class: "java.io.IOException", Message: fmt.Sprintf("fewer cells than %d: %v", n, reader.Err())}
		}
		cells = append(cells, k)
	}
	return block[len(block)-reader.Left():], cells, nil
}

func (s *server) multi(param, block []byte) (*reply, error) {
	req := new(wire.MultiRequest)
	if err := proto.Unmarshal(param, req); err != nil {
		return nil, err
	}
	resp := wire.MultiResponse_builder{}
	var out []byte
	for _, action := range req.GetRegionAction() {
		name := string(action.GetRegion().GetValue())
		f := s.fault("Multi", name)
		if f.Drop || f.Silent {
			return answerUnless(f, nil)
		}
		var result *wire.RegionActionResult
		result, block, out = s.regionAction(name, action, f.Exception, block, out)
		resp.RegionActionResult = append(resp.RegionActionResult, result)
		if f.Lose {
			return nil, errDrop
		}
	}
	return message(resp.Build(), out)
}

func nameBytes(e *Exception) *wire.NameBytesPair {
	return wire.NameBytesPair_builder{Name: proto.String(e.Class), Value: []byte(e.Class + ": " + e.Message + "\n\tat fake")}.Build()
}

// regionAction carries out the actions of one region. Results come in another order than the actions, as real servers'.
func (s *server) regionAction(name string, action *wire.RegionAction, forced *Exception, block, out []byte) (*wire.RegionActionResult, []byte, []byte) {
	c := s.cluster
	c.mu.Lock()
	defer c.mu.Unlock()
	r, exception := s.serving(name)
	if forced != nil {
		exception = forced
	}
	b := wire.RegionActionResult_builder{}
	for _, a := range action.GetAction() {
		one := wire.ResultOrException_builder{Index: proto.Uint32(a.GetIndex())}
		var failed *Exception
		switch {
		case exception != nil && a.GetGet() == nil:
			block, _, _ = takeCells(block, int(a.GetMutation().GetAssociatedCellCount()))
		case exception != nil:
		case a.GetGet() != nil:
			one.Result, out, failed = r.get(out, a.GetGet())
		default:
			block, failed = c.mutate(r, a.GetMutation(), block)
			one.Result = new(wire.Result)
		}
		if failed != nil {
			one.Result, one.Exception = nil, nameBytes(failed)
		}
		b.ResultOrException = append(b.ResultOrException, one.Build())
	}
	if exception != nil {
		return wire.RegionActionResult_builder{Exception: nameBytes(exception)}.Build(), block, out
	}
	return wire.RegionActionResult_builder{ResultOrException: shuffled(b.ResultOrException)}.Build(), block, out
}

// shuffled puts results without cells behind those with, as servers do.
func shuffled(results []*wire.ResultOrException) []*wire.ResultOrException {
	var first, last []*wire.ResultOrException
	for _, r := range results {
		if r.GetResult().GetAssociatedCellCount() > 0 {
			first = append(first, r)
		} else {
			last = append([]*wire.ResultOrException{r}, last...)
		}
	}
	return append(first, last...)
}

// A nullAnswer is what Options.Null has clients be answered with.
type nullAnswer struct {
	on                 bool
	get, cells, mutate []byte
}

func newNullAnswer(o Options) nullAnswer {
	n := nullAnswer{on: o.Null}
	for i := range o.NullColumns {
		n.cells = appendCell(n.cells, "user0", "family", fmt.Sprintf("field%d", i), uint64(time.Now().UnixMilli()), make([]byte, o.NullValue))
	}
	// GetResponse{result{associated_cell_count}} and MutateResponse{processed}.
	n.get = []byte{1<<3 | 2, 2, 2 << 3, byte(o.NullColumns & 0x7F)}
	n.mutate = []byte{2 << 3, 1}
	return n
}

func (n *nullAnswer) answer(method string) (body, cells []byte) {
	if method == "Get" {
		return n.get, n.cells
	}
	return n.mutate, nil
}
