package admin

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A Table describes a table. What is left out has HBase's default.
type Table struct {
	Name     string // name, or namespace:name
	Families []Family
	// SplitKeys are the first keys of all regions but the first, ascending. They count only for CreateTable.
	SplitKeys [][]byte
	// Values are attributes as HBase names them, such as MEMSTORE_FLUSHSIZE, SPLIT_POLICY or DURABILITY, and settings of
	// hbase-site.xml that are to be others for this table, such as hbase.hstore.blockingStoreFiles.
	Values map[string]string
}

// A Family describes a column family. What is left out has HBase's default.
type Family struct {
	Name              string
	MaxVersions       int           // of each cell; 0 means 1
	BlockSize         int64         // of its files, in bytes; HBase's default is 64 KiB
	Compression       string        // NONE, SNAPPY, LZ4, ZSTD, GZ, LZO
	DataBlockEncoding string        // NONE, PREFIX, DIFF, FAST_DIFF, ROW_INDEX_V1
	BloomFilter       string        // NONE, ROW, ROWCOL
	TTL               time.Duration // whole seconds; 0 means for ever
	// Values are further attributes as HBase names them, such as BLOCKCACHE or IN_MEMORY.
	Values map[string]string
}

// Attributes as HBase names them.
const (
	attributeVersions    = "VERSIONS"
	attributeBlockSize   = "BLOCKSIZE"
	attributeCompression = "COMPRESSION"
	attributeEncoding    = "DATA_BLOCK_ENCODING"
	attributeBloom       = "BLOOMFILTER"
	attributeTTL         = "TTL"
)

// forever is the TTL that HBase writes where none was chosen, in seconds.
const forever = 1<<31 - 1

// values are the attributes of a family.
func (f Family) values() map[string]string {
	values := maps.Clone(f.Values)
	if values == nil {
		values = map[string]string{}
	}
	set := func(name, value string, given bool) {
		if given {
			values[name] = value
		}
	}
	// HBase 1 fails over a family without this one.
	set(attributeVersions, strconv.Itoa(max(1, f.MaxVersions)), f.MaxVersions > 0 || values[attributeVersions] == "")
	set(attributeBlockSize, strconv.FormatInt(f.BlockSize, 10), f.BlockSize > 0)
	set(attributeCompression, strings.ToUpper(f.Compression), f.Compression != "")
	set(attributeEncoding, strings.ToUpper(f.DataBlockEncoding), f.DataBlockEncoding != "")
	set(attributeBloom, strings.ToUpper(f.BloomFilter), f.BloomFilter != "")
	set(attributeTTL, strconv.FormatInt(int64(f.TTL/time.Second), 10), f.TTL > 0)
	return values
}

// family is the reverse of values. What it cannot read as a field stays in Values.
func family(name string, values map[string]string) Family {
	f := Family{Name: name, Values: map[string]string{}}
	for attribute, value := range values {
		n, err := strconv.ParseInt(value, 10, 64)
		number := err == nil && n > 0
		switch {
		case attribute == attributeVersions && number && n <= forever:
			f.MaxVersions = int(n)
		case attribute == attributeBlockSize && number:
			f.BlockSize = n
		case attribute == attributeTTL && number && n <= forever:
			if n != forever {
				f.TTL = time.Duration(n) * time.Second
			}
		case attribute == attributeCompression:
			f.Compression = value
		case attribute == attributeEncoding:
			f.DataBlockEncoding = value
		case attribute == attributeBloom:
			f.BloomFilter = value
		default:
			f.Values[attribute] = value
		}
	}
	return f
}

// check finds what HBase would refuse, or silently take for something else.
func (t Table) check() error {
	if _, _, err := splitName(t.Name); err != nil {
		return err
	}
	if len(t.Families) == 0 {
		return errors.New("a table needs a column family")
	}
	names := map[string]bool{}
	for _, f := range t.Families {
		if err := f.check(); err != nil {
			return err
		}
		if names[f.Name] {
			return fmt.Errorf("column family %q is named twice", f.Name)
		}
		names[f.Name] = true
	}
	for i, key := range t.SplitKeys {
		if len(key) == 0 {
			return fmt.Errorf("split key %d is empty", i+1)
		}
		if i > 0 && slices.Compare(t.SplitKeys[i-1], key) >= 0 {
			return fmt.Errorf("split key %d, %q, is not after the one before it, %q", i+1, key, t.SplitKeys[i-1])
		}
	}
	return nil
}

func (f Family) check() error {
	switch {
	case f.Name == "" || strings.HasPrefix(f.Name, ".") || strings.ContainsAny(f.Name, ":/\\\x00") || len(f.Name) > 127:
		return fmt.Errorf("column family %q: choose 1 to 127 characters without colon and slash, the first no dot", f.Name)
	case f.MaxVersions < 0 || f.BlockSize < 0 || f.TTL < 0:
		return fmt.Errorf("column family %q: versions %d, block size %d, TTL %v: none may be negative", f.Name, f.MaxVersions, f.BlockSize, f.TTL)
	case f.TTL%time.Second != 0 || f.TTL/time.Second > forever:
		return fmt.Errorf("column family %q: TTL %v: choose whole seconds, at most %d", f.Name, f.TTL, forever)
	}
	return nil
}

const defaultNamespace = "default"

// splitName splits the name of a table into namespace and name, and checks both.
func splitName(table string) (namespace, name string, err error) {
	namespace, name, found := strings.Cut(table, ":")
	if !found {
		namespace, name = defaultNamespace, table
	}
	if !regexp.MustCompile(`^\w+$`).MatchString(namespace) || !regexp.MustCompile(`^\w[\w.-]*$`).MatchString(name) {
		return "", "", fmt.Errorf("table %q: choose letters, digits, underscore, dot and minus, the first no dot or minus, "+
			"with the namespace and a colon before it if it is not in the default one", table)
	}
	return namespace, name, nil
}

// joinName is the reverse of splitName.
func joinName(namespace, name string) string {
	if namespace == defaultNamespace {
		return name
	}
	return namespace + ":" + name
}
