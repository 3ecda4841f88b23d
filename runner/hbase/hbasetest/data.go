package hbasetest

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/hadoop-bench/operator/runner/hbase/cell"
)

// nowhere is the server of a region that is not assigned.
const nowhere = -1

// A table is rows in memory: by row, then by family:qualifier.
type table struct {
	Table
	rows map[string]map[string]stored
}

type stored struct {
	value     []byte
	timestamp uint64
}

// A region is a part of a table.
type region struct {
	table      *table
	start, end string
	id         uint64
	server     int
	movedFrom  int // told the new place if told
	told       bool
	gone       bool // split
}

func (c *Cluster) create(spec Table) {
	t := &table{Table: spec, rows: map[string]map[string]stored{}}
	c.tables[spec.Name] = t
	start := ""
	for i, split := range append(slices.Clone(spec.Splits), "") {
		c.addRegion(t, start, split, i%c.o.Servers)
		start = split
	}
}

func (c *Cluster) addRegion(t *table, start, end string, server int) {
	c.lastID++
	c.regions = append(c.regions, &region{table: t, start: start, end: end, id: c.lastID, server: server, movedFrom: nowhere})
	slices.SortFunc(c.regions, func(a, b *region) int { return a.compare(b.table.Name, b.start, fmt.Sprint(b.id)) })
}

// compare orders regions as the rows of hbase:meta: by table, first key and id.
func (r *region) compare(tableName, start, id string) int {
	if n := strings.Compare(r.table.Name, tableName); n != 0 {
		return n
	}
	if n := strings.Compare(r.start, start); n != 0 {
		return n
	}
	return strings.Compare(fmt.Sprint(r.id), id)
}

// name is the region's: with an encoded name that is its id, not a hash.
func (r *region) name() string {
	return fmt.Sprintf("%s,%s,%d.%s.", r.table.Name, r.start, r.id, r.encoded())
}

func (r *region) encoded() string { return fmt.Sprintf("%032x", r.id) }

func (r *region) holds(row string) bool {
	return r.start <= row && (r.end == "" || row < r.end)
}

// find returns the region of a row. It must be there.
func (c *Cluster) find(tableName, row string) *region {
	for _, r := range c.regions {
		if r.table.Name == tableName && !r.gone && r.holds(row) {
			return r
		}
	}
	return &region{table: &table{}, server: nowhere}
}

// serving returns a region by name if the server has it, or the exception that it answers with.
func (s *server) serving(name string) (*region, *Exception) {
	c := s.cluster
	for _, r := range c.regions {
		if r.name() != name || r.gone {
			continue
		}
		switch {
		case r.table.Disabled || r.server == nowhere:
		case r.server == s.number:
			return r, nil
		case r.movedFrom == s.number && r.told:
			return nil, c.moved(r)
		}
		break
	}
	return nil, &Exception{Class: "org.apache.hadoop.hbase.NotServingRegionException", Message: name + " is not online"}
}

func (c *Cluster) moved(r *region) *Exception {
	host, port := split(c.servers[r.server].address)
	return &Exception{
		Class: "org.apache.hadoop.hbase.exceptions.RegionMovedException",
		Message: fmt.Sprintf("Region moved to: hostname=%s port=%d startCode=%d. As of locationSeqNum=%d.",
			host, port, startCode, r.id),
		Host: host, Port: port,
	}
}

// check says what is wrong with a row and a family in a region.
func (r *region) check(row, family string) *Exception {
	if !r.holds(row) {
		return &Exception{Class: "org.apache.hadoop.hbase.regionserver.WrongRegionException", Message: row + " is out of " + r.name()}
	}
	if family != "" && !slices.Contains(r.table.Families, family) {
		return &Exception{
			Class:   "org.apache.hadoop.hbase.regionserver.NoSuchColumnFamilyException",
			Message: "Column family " + family + " does not exist in region " + r.name(), DoNotRetry: true,
		}
	}
	return nil
}

// A columns is a family and the qualifiers that are wanted; none: all.
type columns struct {
	family     string
	qualifiers [][]byte
}

// appendRow appends the wanted cells of a row and says how many they are.
func (t *table) appendRow(b []byte, row string, wanted columns) (_ []byte, n int) {
	names := make([]string, 0, len(t.rows[row]))
	for name := range t.rows[row] {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		family, qualifier, _ := strings.Cut(name, ":")
		if wanted.family != "" && (family != wanted.family || len(wanted.qualifiers) > 0 &&
			!slices.ContainsFunc(wanted.qualifiers, func(q []byte) bool { return string(q) == qualifier })) {
			continue
		}
		v := t.rows[row][name]
		b = appendCell(b, row, family, qualifier, v.timestamp, v.value)
		n++
	}
	return b, n
}

func appendCell(b []byte, row, family, qualifier string, timestamp uint64, value []byte) []byte {
	b, err := cell.Append(b, &cell.Cell{
		Row: []byte(row), Family: []byte(family), Qualifier: []byte(qualifier),
		Timestamp: int64(timestamp), Type: cell.Put, Value: value,
	})
	if err != nil {
		return nil
	}
	return b
}

// apply carries out the cells of a mutation.
func (c *Cluster) apply(t *table, cells []cell.Cell) {
	for _, k := range cells {
		row := string(k.Row)
		switch k.Type {
		case cell.Put:
			if t.rows[row] == nil {
				t.rows[row] = map[string]stored{}
			}
			c.now++
			t.rows[row][string(k.Family)+":"+string(k.Qualifier)] = stored{value: bytes.Clone(k.Value), timestamp: c.now}
		case cell.DeleteFamily:
			for name := range t.rows[row] {
				if strings.HasPrefix(name, string(k.Family)+":") {
					delete(t.rows[row], name)
				}
			}
			if len(t.rows[row]) == 0 {
				delete(t.rows, row)
			}
		}
	}
}
