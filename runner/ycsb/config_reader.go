package ycsb

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/hadoop-bench/operator/runner/plan"
)

// A reader reads properties one by one, remembers their names and gathers what is wrong with them. Spaces around numbers
// and words do not count, since those at a line's end are part of a value in Java's format and nobody sees them.
type reader struct {
	properties *Properties
	known      map[string]bool
	errors     []error
}

func (r *reader) wrong(format string, args ...any) {
	r.errors = append(r.errors, fmt.Errorf(format, args...))
}

// text reads a property as it is.
func (r *reader) text(name, standard string) string {
	r.known[name] = true
	if value, ok := r.properties.Get(name); ok {
		return strings.TrimSpace(value)
	}
	return standard
}

func (r *reader) integer(name string, standard, least, most int64) int64 {
	text := r.text(name, "")
	if _, ok := r.properties.Get(name); !ok {
		return standard
	}
	value, err := strconv.ParseInt(text, 10, 64)
	if err != nil || value < least || value > most {
		r.wrong("property %s: %q is not a whole number from %d to %d", name, text, least, most)
		return standard
	}
	return value
}

func (r *reader) unsigned(name string) uint64 {
	text := r.text(name, "0")
	value, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		r.wrong("property %s: %q is not a whole number from 0 to %d", name, text, uint64(1<<64-1))
	}
	return value
}

func (r *reader) number(name string, standard, least, most float64) float64 {
	text := r.text(name, "")
	if _, ok := r.properties.Get(name); !ok {
		return standard
	}
	value, err := strconv.ParseFloat(text, 64)
	if err != nil || !(value >= least && value <= most) { // not a number is in no range
		r.wrong("property %s: %q is not a number from %v to %v", name, text, least, most)
		return standard
	}
	return value
}

// boolean reads true or false. YCSB takes anything but true for false.
func (r *reader) boolean(name string, standard bool) bool {
	text := r.text(name, strconv.FormatBool(standard))
	switch strings.ToLower(text) {
	case "true":
		return true
	case "false":
		return false
	}
	r.wrong("property %s: %q is neither true nor false", name, text)
	return standard
}

// word reads one of a few words, of which the first is the default.
func (r *reader) word(name string, words ...string) string {
	text := r.text(name, words[0])
	if !slices.Contains(words, text) {
		r.wrong("property %s: %q is not one of %s", name, text, strings.Join(words, ", "))
		return words[0]
	}
	return text
}

// elsewhere are properties of YCSB that its measurements, its client and its bindings of HBase and of no database read.
var elsewhere = []string{
	"db", "spin.sleep", "measurement.trackjvm",
	"measurementtype", "measurement.interval", "hdrhistogram.percentiles", "hdrhistogram.fileoutput", "hdrhistogram.output.path",
	"measurement.histogram.verbose", "histogram.buckets", "timeseries.granularity", "measurement.raw.output_file",
	"measurement.raw.no_summary", "reportlatencyforeacherror", "latencytrackederrors",
	"columnfamily", "clientbuffering", "writebuffersize", "durability", "hbase.usepagefilter", "debug", "principal", "keytab",
	"hbase.usescanvaluefiltering", "hbase.scanfilteroperator", "hbase.scanfiltervalue",
	"basicdb.verbose", "basicdb.simulatedelay", "basicdb.randomizedelay", "basicdb.count",
}

// without are properties that YCSB's template of a workload file names and no code of YCSB reads.
var without = []string{"maxscanrate", "scanoptimelimit", "discardscannedrecord"}

// unknown returns a warning for each property that nobody reads, with the known name that is most like it.
func (r *reader) unknown(others []string) (list []string) {
	var names, prefixes []string
	for _, name := range slices.Concat(elsewhere, others) {
		if prefix, ok := strings.CutSuffix(name, "*"); ok {
			prefixes = append(prefixes, prefix)
		} else {
			names = append(names, name)
		}
	}
	for name := range r.known {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range r.properties.Names() {
		begins := func(prefix string) bool { return strings.HasPrefix(name, prefix) }
		switch _, ok := slices.BinarySearch(names, name); {
		case ok || slices.ContainsFunc(prefixes, begins):
		case slices.Contains(without, name) || strings.HasPrefix(name, "htrace."):
			list = append(list, fmt.Sprintf("property %s has no effect", name))
		default:
			list = append(list, fmt.Sprintf("property %s is not known and has no effect%s", name, suggestion(name, names)))
		}
	}
	return list
}

// suggestion asks whether the name most like another was meant, if one is like it.
func suggestion(name string, names []string) string {
	nearest, changes := plan.Nearest(name, names)
	if nearest == "" || changes > max(2, len(name)/4) {
		return ""
	}
	return fmt.Sprintf("; was %s meant?", nearest)
}
