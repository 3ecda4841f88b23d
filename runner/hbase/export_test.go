package hbase

import "google.golang.org/protobuf/encoding/protowire"

// What the tests hold against the generated messages.

func Specifier(name []byte) []byte { return specifier(name) }

func GetRequest(spec []byte, g *Get) []byte { return appendGetRequest(nil, spec, g) }

func MutateRequest(spec []byte, m *Mutation) []byte { return appendMutateRequest(nil, spec, m) }

type Opening struct {
	Specifier, Start, Stop, Family []byte
	Columns                        [][]byte
	Rows, Limit, Page              int
	Reversed, Close                bool
}

func (o Opening) Encode() []byte {
	s := scanOpening{
		specifier: o.Specifier, start: o.Start, stop: o.Stop, family: o.Family, columns: o.Columns, rows: o.Rows, limit: o.Limit,
		page: o.Page, reversed: o.Reversed, close: o.Close,
	}
	return s.append(nil)
}

func ScanNext(scanner uint64, rows, limit int, sequence uint64) []byte {
	return appendScanNext(nil, scanner, rows, limit, sequence)
}

func ScanClose(scanner uint64) []byte { return appendScanClose(nil, scanner) }

// MultiRequest encodes actions of one region.
func MultiRequest(name []byte, actions []Action) (param, cells []byte) {
	t := newTable("t")
	r := newRegion(t, LocatedRegion{Name: name})
	var b batch
	g := group{at: map[*region]int{}}
	for i, a := range actions {
		if a.Get != nil {
			b.addGet(t, a.Get)
		} else {
			b.addMutation(t, a.Mutation)
		}
		g.add(i, r, 1)
	}
	g.encode(&b)
	return g.x.param, g.x.cells
}

func Nested(num protowire.Number, content []byte) []byte {
	b, at := open(nil, num)
	return shut(append(b, content...), at)
}

func ParseGet(b []byte) (int, error) { return parseGetResponse(b) }

func ParseScan(b []byte) (cells []int, scanner uint64, more, moreInRegion bool, err error) {
	var a scanAnswer
	err = a.parse(b)
	return a.cells, a.scanner, a.more, a.moreInRegion, err
}

type Outcome struct {
	Region, Index, Cells int
	Class, Trace         string
}

func ParseMulti(b []byte) (all []Outcome, err error) {
	err = parseMultiResponse(b, func(o outcome) error {
		all = append(all, Outcome{o.region, o.index, o.cells, string(o.exception.name), string(o.exception.value)})
		return nil
	})
	return all, err
}

func ParseMetaRow(row Row) (l LocatedRegion, open bool, err error) {
	m, err := parseMetaRow(row)
	if err != nil {
		return l, false, err
	}
	return m.LocatedRegion, m.open(), nil
}

var ErrAnswer = errAnswer

// PauseAfter is pauseAfter of a kind of failure.
var PauseAfter = pauseAfter

const (
	Again     = again
	Follow    = follow
	Wait      = wait
	OpenAgain = openAgain
)

var MovedTo = movedTo
