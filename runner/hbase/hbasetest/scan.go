package hbasetest

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/hadoop-bench/operator/runner/hbase/wire"
)

const (
	metaName   = "hbase:meta,,1"
	pageFilter = "org.apache.hadoop.hbase.filter.PageFilter"
)

// A scanner is an open scan of a region: rows that were there when it was opened.
type scanner struct {
	region *region // nil: hbase:meta
	server int
	rows   []string
	wanted columns
	next   uint64 // sequence number of the next request
	page   int    // rows left of the filter; -1: none
}

func (s *server) scan(param []byte) (*reply, error) {
	req := new(wire.ScanRequest)
	if err := proto.Unmarshal(param, req); err != nil {
		return nil, err
	}
	name := string(req.GetRegion().GetValue())
	if name == metaName {
		return s.scanMeta(req)
	}
	return answerUnless(s.fault("Scan", name), func() (*reply, error) {
		s.cluster.mu.Lock()
		defer s.cluster.mu.Unlock()
		return s.scanRegion(name, req)
	})
}

// scanRegion opens, continues or closes a scanner.
func (s *server) scanRegion(name string, req *wire.ScanRequest) (*reply, error) {
	c := s.cluster
	id := req.GetScannerId()
	sc := c.scanners[id]
	if !req.HasScannerId() {
		r, exception := s.serving(name)
		if exception == nil {
			exception = r.check(max(r.start, string(req.GetScan().GetStartRow())), familyOf(req.GetScan()))
		}
		if exception != nil {
			return refusal(exception)
		}
		sc, id = r.open(req.GetScan(), s.number), c.newScanner()
		c.scanners[id] = sc
	}
	if sc == nil || sc.server != s.number {
		return refusal(&Exception{Class: "org.apache.hadoop.hbase.UnknownScannerException", Message: fmt.Sprint(id), DoNotRetry: true})
	}
	if _, exception := s.serving(sc.region.name()); exception != nil {
		return refusal(exception)
	}
	if req.HasNextCallSeq() {
		if req.GetNextCallSeq() != sc.next {
			return refusal(&Exception{Class: "org.apache.hadoop.hbase.exceptions.OutOfOrderScannerNextException", Message: fmt.Sprint(sc.next), DoNotRetry: true})
		}
		sc.next++
	}
	return c.next(id, sc, req)
}

func familyOf(s *wire.Scan) string {
	if len(s.GetColumn()) == 0 {
		return ""
	}
	return string(s.GetColumn()[0].GetFamily())
}

func (c *Cluster) newScanner() uint64 {
	c.lastID++
	return c.lastID<<32 + 7
}

// open collects a region's rows.
func (r *region) open(s *wire.Scan, server int) *scanner {
	sc := &scanner{region: r, server: server, page: -1}
	if len(s.GetColumn()) > 0 {
		sc.wanted = columns{familyOf(s), s.GetColumn()[0].GetQualifier()}
	}
	if s.GetFilter().GetName() == pageFilter {
		_, _, n := protowire.ConsumeTag(s.GetFilter().GetSerializedFilter())
		size, _ := protowire.ConsumeVarint(s.GetFilter().GetSerializedFilter()[n:])
		sc.page = int(size)
	}
	for row := range r.table.rows {
		if r.holds(row) && row >= string(s.GetStartRow()) && (len(s.GetStopRow()) == 0 || row < string(s.GetStopRow())) {
			sc.rows = append(sc.rows, row)
		}
	}
	slices.Sort(sc.rows)
	return sc
}

// next answers with a scanner's next rows.
func (c *Cluster) next(id uint64, sc *scanner, req *wire.ScanRequest) (*reply, error) {
	n := min(int(req.GetNumberOfRows()), len(sc.rows))
	if limit := int(req.GetLimitOfRows()); limit > 0 {
		n = min(n, limit)
	}
	if sc.page >= 0 {
		n = min(n, sc.page)
	}
	b := wire.ScanResponse_builder{ScannerId: proto.Uint64(id), Ttl: proto.Uint32(60000)}
	var cells []byte
	for _, row := range sc.rows[:n] {
		var k int
		if cells, k = sc.region.table.appendRow(cells, row, sc.wanted); k > 0 {
			b.CellsPerResult = append(b.CellsPerResult, uint32(k))
			b.PartialFlagPerResult = append(b.PartialFlagPerResult, false)
		}
	}
	sc.rows = sc.rows[n:]
	more := true
	if sc.page >= 0 {
		sc.page -= n
		more = sc.page > 0
	}
	if limit := int(req.GetLimitOfRows()); limit > 0 && n == limit && !c.o.Old {
		more = false
	}
	inRegion := len(sc.rows) > 0
	b.MoreResults, b.MoreResultsInRegion = proto.Bool(more), proto.Bool(inRegion)
	if !more || !inRegion || req.GetCloseScanner() {
		delete(c.scanners, id)
	}
	return message(b.Build(), cells)
}

// scanMeta answers a scan of hbase:meta, all of whose rows come at once or, reversed, one.
func (s *server) scanMeta(req *wire.ScanRequest) (*reply, error) {
	c := s.cluster
	c.mu.Lock()
	defer c.mu.Unlock()
	c.calls["meta.Scan"]++
	if s.number != c.metaAt {
		return refusal(&Exception{Class: "org.apache.hadoop.hbase.NotServingRegionException", Message: metaName + " is not online"})
	}
	spec := req.GetScan()
	start, stop := string(spec.GetStartRow()), string(spec.GetStopRow())
	b := wire.ScanResponse_builder{MoreResults: proto.Bool(false), MoreResultsInRegion: proto.Bool(false)}
	var cells []byte
	add := func(r *region) {
		var n int
		cells, n = c.appendMetaRow(cells, r)
		b.CellsPerResult = append(b.CellsPerResult, uint32(n))
	}
	if spec.GetReversed() {
		for _, r := range slices.Backward(c.regions) {
			if r.compareKey(start) <= 0 {
				add(r)
				break
			}
		}
	} else {
		for _, r := range c.regions {
			if r.compareKey(start) >= 0 && (stop == "" || r.compareKey(stop) < 0) {
				add(r)
			}
		}
	}
	return message(b.Build(), cells)
}

// compareKey compares a region with a key of hbase:meta: table, row and id between the first and the last comma.
func (r *region) compareKey(key string) int {
	tableName, rest, _ := strings.Cut(key, ",")
	i := strings.LastIndexByte(rest, ',')
	if i < 0 {
		return r.compare(tableName, rest, "")
	}
	return r.compare(tableName, rest[:i], rest[i+1:])
}

func (c *Cluster) appendMetaRow(b []byte, r *region) (_ []byte, n int) {
	row := r.name()
	info, err := proto.Marshal(regionInfo(r))
	if err != nil {
		return b, 0
	}
	add := func(qualifier string, value []byte) {
		b = appendCell(b, row, "info", qualifier, 1, value)
		n++
	}
	add("regioninfo", append([]byte("PBUF"), info...))
	state := "OPEN"
	if r.server == nowhere || r.table.Disabled {
		state = "CLOSED"
	}
	if r.server != nowhere {
		host, port := split(c.servers[r.server].address)
		add("server", fmt.Appendf(nil, "%s:%d", host, port))
		add("serverstartcode", binary.BigEndian.AppendUint64(nil, startCode))
	}
	if !c.o.Old {
		add("state", []byte(state))
	}
	return b, n
}

func regionInfo(r *region) *wire.RegionInfo {
	namespace, name := "default", r.table.Name
	if ns, rest, ok := strings.Cut(name, ":"); ok {
		namespace, name = ns, rest
	}
	return wire.RegionInfo_builder{
		RegionId:  proto.Uint64(r.id),
		TableName: wire.TableName_builder{Namespace: []byte(namespace), Qualifier: []byte(name)}.Build(),
		StartKey:  []byte(r.start), EndKey: []byte(r.end), Offline: proto.Bool(r.gone), Split: proto.Bool(r.gone), ReplicaId: proto.Int32(0),
	}.Build()
}

// getMeta answers with the state of a table.
func (s *server) getMeta(g *wire.Get) (*reply, error) {
	c := s.cluster
	c.mu.Lock()
	defer c.mu.Unlock()
	c.calls["meta.Get"]++
	t := c.tables[string(g.GetRow())]
	if t == nil || c.o.Old {
		return message(wire.GetResponse_builder{Result: new(wire.Result)}.Build(), nil)
	}
	state := wire.TableState_ENABLED
	if t.Disabled {
		state = wire.TableState_DISABLED
	}
	value, err := proto.Marshal(wire.TableState_builder{State: state.Enum()}.Build())
	if err != nil {
		return nil, err
	}
	cells := appendCell(nil, string(g.GetRow()), "table", "state", 1, value)
	return message(wire.GetResponse_builder{Result: wire.Result_builder{AssociatedCellCount: proto.Int32(1)}.Build()}.Build(), cells)
}
