package report

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// MaxParts bounds the parts of a report: YCSB has nine metrics, and six of them can have failed operations beside.
const MaxParts = 16

// Part is what one metric of a step that mixes kinds of operations recorded. How many operations that were is the count
// of its histograms.
type Part struct {
	// Name is the metric's name in the upstream tool's report, such as READ, READ-FAILED or READ-MODIFY-WRITE.
	Name string `json:"name"`
	// Returns counts the operations of this kind by the name of their status. In YCSB's report failed operations are
	// counted here under the plain name, while their latencies are another part's.
	Returns Returns `json:"returns,omitempty"`
	// Latency is the service time in nanoseconds; nil if it was not measured.
	Latency *Histogram `json:"-"`
	// Intended is the time from when an operation was to begin until its end; nil if it was not measured.
	Intended *Histogram `json:"-"`
}

// Count is how many operations were recorded.
func (p *Part) Count() int64 { return partCount(p.Latency, p.Intended) }

func partCount(latency, intended *Histogram) int64 {
	switch {
	case latency != nil:
		return latency.Count()
	case intended != nil:
		return intended.Count()
	}
	return 0
}

// ReturnCount is how many operations ended with one status.
type ReturnCount struct {
	Status string
	Count  int64
}

// Returns counts operations by status, in the order of the upstream tool's report. As JSON it is one object,
// {"OK":99,"NOT_FOUND":1}, in this order.
type Returns []ReturnCount

// MarshalJSON encodes the counts as one object.
func (r Returns) MarshalJSON() ([]byte, error) {
	out := []byte{'{'}
	for i, c := range r {
		name, err := marshal(c.Status)
		if err != nil {
			return nil, fmt.Errorf("encoding a status: %w", err)
		}
		if i > 0 {
			out = append(out, ',')
		}
		out = fmt.Appendf(append(out, name...), ":%d", c.Count)
	}
	return append(out, '}'), nil
}

// UnmarshalJSON decodes what MarshalJSON makes, and keeps the order.
func (r *Returns) UnmarshalJSON(data []byte) error {
	d := json.NewDecoder(bytes.NewReader(data))
	if token, err := d.Token(); err != nil || token != json.Delim('{') {
		return fmt.Errorf("decoding counts by status: %s is no object", data)
	}
	var counts Returns
	for d.More() {
		token, err := d.Token()
		if err != nil {
			return fmt.Errorf("decoding counts by status: %w", err)
		}
		status, _ := token.(string)
		var n int64
		if err := d.Decode(&n); err != nil {
			return fmt.Errorf("decoding the count of status %q: %w", status, err)
		}
		counts = append(counts, ReturnCount{status, n})
	}
	*r = counts
	return nil
}

// add counts more operations. The receiver's array is not shared with other.
func (r Returns) add(other Returns) (Returns, error) {
	sum := slices.Clone(r)
	for _, c := range other {
		i := slices.IndexFunc(sum, func(have ReturnCount) bool { return have.Status == c.Status })
		if i < 0 {
			sum = append(sum, c)
			continue
		}
		n, ok := addInt64(sum[i].Count, c.Count)
		if !ok {
			return nil, ErrOverflow
		}
		sum[i].Count = n
	}
	return sum, nil
}

// operationNames are the kinds of operations, in the order of reports.
func operationNames() []string {
	return []string{"READ", "UPDATE", "INSERT", "SCAN", "DELETE", "READ-MODIFY-WRITE"}
}

// isOperation says whether a part is a kind of operation that succeeded, not a failure, a check or a share of one.
func isOperation(name string) bool { return slices.Contains(operationNames(), name) }

// compareParts orders parts: operations, what else is recorded, and each followed by its failures; unknown names last.
func compareParts(a, b string) int {
	rankA, baseA := partRank(a)
	rankB, baseB := partRank(b)
	return cmp.Or(cmp.Compare(rankA, rankB), cmp.Compare(len(a)-baseA, len(b)-baseB), cmp.Compare(a, b))
}

// partRank is the place of a part's metric, and the length of the metric's name. What follows it is how operations ended.
func partRank(name string) (rank, length int) {
	known := append(operationNames(), "VERIFY", "SCAN-LATENCY-PER-RECORD", "CLEANUP")
	rank = len(known)
	for i, metric := range known {
		if len(metric) > length && (name == metric || strings.HasPrefix(name, metric+"-")) {
			rank, length = i, len(metric)
		}
	}
	return rank, length
}

// FigurePrefix is how a part's name begins the names of its figures: READ-MODIFY-WRITE's are readModifyWrite.opsPerSec,
// readModifyWrite.latencyP99Nanos and so on.
func FigurePrefix(name string) string {
	words := strings.FieldsFunc(name, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	for i, word := range words {
		runes := []rune(strings.ToLower(word))
		if i > 0 {
			runes[0] = unicode.ToUpper(runes[0])
		}
		words[i] = string(runes)
	}
	return strings.Join(words, "")
}
