package hbase

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/hadoop-bench/operator/runner/hbase/wire"
)

// hbase:meta has one region, which is never split.
const (
	metaTable   = "hbase:meta"
	metaRegion  = "hbase:meta,,1"
	metaEncoded = "1588230740"
)

// Families and qualifiers of hbase:meta.
const (
	regionFamily = "info" // of a region: regioninfo, server, serverstartcode, state
	tableFamily  = "table"
	stateColumn  = "state"
)

// afterAll stands for a region's id in a key that is beyond those of all regions with the same start key.
const afterAll = "99999999999999"

// locate returns the region that holds a row: from memory, or by asking hbase:meta, for which all callers who miss the same
// table's regions wait together. anew says that it was known before.
func (c *Client) locate(ctx context.Context, t *table, row []byte, anew bool) (*region, error) {
	if r := t.find(row); r != nil {
		return r, nil
	}
	select {
	case t.looking <- struct{}{}:
	case <-ctx.Done():
		return nil, fmt.Errorf("locate a row of %s: %w", t.name, context.Cause(ctx))
	}
	defer func() { <-t.looking }()
	if r := t.find(row); r != nil {
		return r, nil
	}
	r, err := c.lookUp(ctx, t, row)
	if err != nil {
		return nil, err
	}
	t.add(r)
	// Whoever dropped it waits before it tries again, and another session may come first.
	if again := t.foundAgain(); (again || anew) && t != c.meta {
		c.relocations.Add(1)
	}
	return r, nil
}

// lookUp asks where a row is.
func (c *Client) lookUp(ctx context.Context, t *table, row []byte) (*region, error) {
	if t == c.meta {
		return c.lookUpMeta(ctx)
	}
	meta, err := c.locate(ctx, c.meta, nil, false)
	if err != nil {
		return nil, err
	}
	key := slices.Concat([]byte(t.name), []byte{','}, row, []byte(","+afterAll))
	x := new(exchange)
	o := scanOpening{
		specifier: meta.specifier, start: key, family: []byte(regionFamily), rows: 1, limit: 1, reversed: true, close: true,
	}
	x.param = o.append(x.param[:0])
	if err := x.send(ctx, c, meta, "Scan", c.o.Calls.Attempt); err != nil {
		c.learn(meta, err)
		return nil, fmt.Errorf("ask hbase:meta for a region of %s: %w", t.name, err)
	}
	var found *metaRow
	if err := x.eachRow(func(cells Row) error {
		found, err = parseMetaRow(cells)
		return err
	}); err != nil {
		return nil, fmt.Errorf("ask hbase:meta for a region of %s: %w", t.name, err)
	}
	return c.judge(ctx, t, row, found)
}

// lookUpMeta asks the registry.
func (c *Client) lookUpMeta(ctx context.Context) (*region, error) {
	s, err := c.registry.MetaServer(ctx)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errRegistry, err)
	}
	return newRegion(c.meta, LocatedRegion{
		Name: []byte(metaRegion), Encoded: metaEncoded, Table: metaTable, Server: s.Address, StartCode: s.StartCode,
	}), nil
}

// judge decides what a row of hbase:meta says about the row of a table that was looked for.
func (c *Client) judge(ctx context.Context, t *table, row []byte, m *metaRow) (*region, error) {
	if m == nil || m.Table != t.name {
		return nil, fmt.Errorf("table %s: %w", t.name, ErrTableNotFound)
	}
	if m.open() && m.holds(row) {
		return newRegion(t, m.LocatedRegion), nil
	}
	if disabled, err := c.disabled(ctx, t.name); err == nil && disabled {
		return nil, fmt.Errorf("table %s: %w", t.name, ErrTableDisabled)
	}
	return nil, fmt.Errorf("%w: %s, state %q, server %q, replaced by its daughters: %v", errUnassigned, m.Name, m.state, m.Server, m.gone)
}

// disabled asks hbase:meta for a table's state. HBase 1 keeps it elsewhere; there the answer is no.
func (c *Client) disabled(ctx context.Context, name string) (bool, error) {
	meta, err := c.locate(ctx, c.meta, nil, false)
	if err != nil {
		return false, err
	}
	x := new(exchange)
	x.param = appendGetRequest(x.param[:0], meta.specifier, &Get{
		Row: []byte(name), Family: []byte(tableFamily), Columns: [][]byte{[]byte(stateColumn)},
	})
	if err := x.send(ctx, c, meta, "Get", c.o.Calls.Attempt); err != nil {
		return false, err
	}
	cells, err := x.row()
	if err != nil || len(cells) == 0 {
		return false, err
	}
	state := new(wire.TableState)
	if err := (proto.UnmarshalOptions{DiscardUnknown: true}).Unmarshal(cells[0].Value, state); err != nil {
		return false, err
	}
	return state.GetState() == wire.TableState_DISABLED || state.GetState() == wire.TableState_DISABLING, nil
}

// Locate returns the region that holds a row, and where it is, from memory or from hbase:meta.
func (c *Client) Locate(ctx context.Context, tableName string, row []byte) (LocatedRegion, error) {
	s := c.Session()
	t := c.tables.get(qualified(tableName))
	s.trial.begin(c.o.Clock.Now(), "locating", tableName, nil, row)
	for {
		r, err := s.locate(ctx, t, row)
		if err == nil {
			return r.LocatedRegion, nil
		}
		if err = s.tryAgain(ctx, nil, err); err != nil {
			return LocatedRegion{}, err
		}
	}
}

// Regions returns all regions of a table in order of their keys, as hbase:meta has them now, and remembers them.
func (c *Client) Regions(ctx context.Context, tableName string) ([]LocatedRegion, error) {
	name := qualified(tableName)
	if name == metaTable {
		l, err := c.Locate(ctx, metaTable, nil)
		return []LocatedRegion{l}, err
	}
	t := c.tables.get(name)
	var all []LocatedRegion
	var open []*region
	// The hyphen is the first of the characters that names of tables may have, and beyond the comma.
	scan := Scan{Table: metaTable, Start: []byte(name + ",,"), Stop: []byte(name + "-,,"), Family: []byte(regionFamily)}
	err := c.Session().Scan(ctx, &scan, func(cells Row) error {
		m, err := parseMetaRow(cells)
		if err != nil || m.Table != name || m.gone {
			return err
		}
		all = append(all, m.LocatedRegion)
		if m.open() {
			open = append(open, newRegion(t, m.LocatedRegion))
		}
		return nil
	})
	if err == nil && len(all) == 0 {
		err = fmt.Errorf("table %s: %w", name, ErrTableNotFound)
	}
	if err != nil {
		return nil, fmt.Errorf("list the regions of %s: %w", name, err)
	}
	t.replaceAll(open)
	return all, nil
}

// qualified is a table's name as hbase:meta has it: without a namespace that is the default one.
func qualified(name string) string { return strings.TrimPrefix(name, "default:") }

// A metaRow is what a row of hbase:meta says about a region.
type metaRow struct {
	LocatedRegion
	state string // as the master's, such as OPEN; empty in HBase 1
	gone  bool   // its daughters, or the region it was merged into, have taken its place
}

func (m *metaRow) open() bool {
	return !m.gone && m.Server != "" && (m.state == "" || m.state == "OPEN")
}

func (m *metaRow) holds(row []byte) bool {
	return bytes.Compare(m.Start, row) <= 0 && (len(m.End) == 0 || bytes.Compare(row, m.End) < 0)
}

const regionInfoMagic = "PBUF"

// parseMetaRow reads a row. What it returns shares no memory with the cells.
func parseMetaRow(cells Row) (*metaRow, error) {
	m := new(metaRow)
	var err error
	for _, c := range cells {
		switch string(c.Qualifier) {
		case "regioninfo":
			err = m.parseInfo(c.Row, c.Value)
		case "server":
			err = m.parseServer(string(c.Value))
		case "serverstartcode":
			if len(c.Value) == 8 {
				m.StartCode = int64(binary.BigEndian.Uint64(c.Value))
			}
		case "state":
			m.state = string(c.Value)
		}
		if err != nil {
			return nil, fmt.Errorf("%w: row %q of hbase:meta: column %s: %w", errAnswer, c.Row, c.Qualifier, err)
		}
	}
	if m.Name == nil && len(cells) > 0 {
		return nil, fmt.Errorf("%w: row %q of hbase:meta has no region", errAnswer, cells[0].Row)
	}
	return m, nil
}

func (m *metaRow) parseInfo(row, value []byte) error {
	message, ok := bytes.CutPrefix(value, []byte(regionInfoMagic))
	if !ok {
		return fmt.Errorf("it does not begin with %s", regionInfoMagic)
	}
	info := new(wire.RegionInfo)
	if err := (proto.UnmarshalOptions{DiscardUnknown: true}).Unmarshal(message, info); err != nil {
		return err
	}
	m.Table = string(info.GetTableName().GetQualifier())
	if ns := string(info.GetTableName().GetNamespace()); ns != "" && ns != "default" {
		m.Table = ns + ":" + m.Table
	}
	m.Name, m.Start, m.End = bytes.Clone(row), info.GetStartKey(), info.GetEndKey()
	m.gone = info.GetOffline() || info.GetSplit()
	var err error
	m.Encoded, err = encodedName(row)
	return err
}

// encodedName is what stands between the last two full stops of a region's name.
func encodedName(name []byte) (string, error) {
	rest, ok := bytes.CutSuffix(name, []byte{'.'})
	i := bytes.LastIndexByte(rest, '.')
	if !ok || i < 0 || i == len(rest)-1 {
		return "", fmt.Errorf("the region's name %q does not end with its encoded name between full stops", name)
	}
	return string(rest[i+1:]), nil
}

// parseServer takes host:port. A region that was never served has an empty value.
func (m *metaRow) parseServer(address string) error {
	if address == "" {
		return nil
	}
	i := strings.LastIndexByte(address, ':')
	if i <= 0 {
		return fmt.Errorf("%q is not host:port", address)
	}
	if port, err := strconv.ParseUint(address[i+1:], 10, 16); err != nil || port == 0 {
		return fmt.Errorf("%q is not host:port", address)
	}
	m.Server = net.JoinHostPort(strings.Trim(address[:i], "[]"), address[i+1:])
	return nil
}

// left is how long an attempt that begins now may take.
func (s *Session) left() time.Duration {
	calls := s.client.o.Calls
	return min(calls.Attempt, calls.Operation-s.client.o.Clock.Now().Sub(s.trial.began))
}

var errNoTimeLeft = errors.New("the attempt's time is over")

// locate is Client.locate within the time of the session's operation.
func (s *Session) locate(ctx context.Context, t *table, row []byte) (*region, error) {
	if r := t.find(row); r != nil {
		return r, nil
	}
	ctx, cancel := context.WithTimeoutCause(ctx, s.left(), errNoTimeLeft)
	defer cancel()
	return s.client.locate(ctx, t, row, s.trial.failures > 0)
}
