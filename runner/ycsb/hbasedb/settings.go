package hbasedb

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/hadoop-bench/operator/runner/hbase"
	"github.com/hadoop-bench/operator/runner/ycsb"
)

// Properties of the binding, in YCSB's words.
const (
	propertyTable      = "table"
	propertyFamily     = "columnfamily"
	propertyBuffering  = "clientbuffering"
	propertyBufferSize = "writebuffersize"
	propertyDurability = "durability"
	propertyPageFilter = "hbase.usepagefilter"
	propertyDebug      = "debug"
	propertyPrincipal  = "principal"
	propertyKeytab     = "keytab"
	propertyValues     = "hbase.usescanvaluefiltering"
	propertyOperator   = "hbase.scanfilteroperator"
	propertyValue      = "hbase.scanfiltervalue"
)

// Defaults of YCSB's binding.
const (
	defaultTable      = "usertable"
	defaultBufferSize = 12 << 20
)

// Settings are what the properties say about the binding.
type Settings struct {
	Table, Family string
	// Buffering has writes wait until BufferSize bytes of them have come together, in each thread.
	Buffering  bool
	BufferSize int64
	Durability hbase.Durability
	// PageFilter has the servers end a scan by a filter too.
	PageFilter bool
	// Debug logs every operation.
	Debug             bool
	Principal, Keytab string // both or none
	// Configuration are properties that belong to HBase's and Hadoop's own configuration.
	Configuration map[string]string
}

// ReadSettings reads the properties of the binding. Its errors name property, value and remedy.
func ReadSettings(p *ycsb.Properties) (Settings, error) {
	r := reader{properties: p}
	s := Settings{
		Table:         r.text(propertyTable, defaultTable),
		Family:        r.text(propertyFamily, ""),
		Buffering:     r.boolean(propertyBuffering, false),
		BufferSize:    r.bytes(propertyBufferSize, defaultBufferSize),
		Durability:    r.durability(),
		PageFilter:    r.boolean(propertyPageFilter, true),
		Debug:         r.boolean(propertyDebug, false),
		Principal:     r.text(propertyPrincipal, ""),
		Keytab:        r.text(propertyKeytab, ""),
		Configuration: configuration(p),
	}
	switch {
	case r.err != nil:
		return Settings{}, r.err
	case s.Family == "":
		return Settings{}, fmt.Errorf("property %[1]s is not set: Error, must specify a columnfamily for HBase table; add -p %[1]s=<name>", propertyFamily)
	case s.Principal == "" != (s.Keytab == ""):
		return Settings{}, fmt.Errorf("properties %s=%q and %s=%q: one does nothing without the other; set both, or none",
			propertyPrincipal, s.Principal, propertyKeytab, s.Keytab)
	}
	return s, r.noValueFilter()
}

// configuration are the properties for HBase's client, which the original takes only from hbase-site.xml.
func configuration(p *ycsb.Properties) map[string]string {
	values := map[string]string{}
	for _, name := range p.Names() {
		value, _ := p.Get(name)
		switch name {
		case propertyPageFilter, propertyValues, propertyOperator, propertyValue:
			continue
		}
		for _, prefix := range []string{"hbase.", "zookeeper.", "hadoop."} {
			if strings.HasPrefix(name, prefix) {
				values[name] = value
			}
		}
	}
	return values
}

// effective says whether a property of HBase's or Hadoop's configuration does anything here.
func effective(name string) bool {
	switch name {
	case "hbase.zookeeper.quorum", "hbase.zookeeper.property.clientPort", "zookeeper.znode.parent", "zookeeper.session.timeout",
		"hbase.client.registry.impl", "hbase.client.bootstrap.servers", "hbase.masters",
		"hbase.client.ipc.pool.size", "hbase.client.pause", "hbase.client.retries.number", "hbase.client.operation.timeout",
		"hbase.rpc.timeout", "hbase.client.keyvalue.maxsize", "hbase.security.authentication", "hbase.rpc.protection",
		"hbase.master.kerberos.principal", "hbase.regionserver.kerberos.principal":
		return true
	}
	return false
}

// A reader reads properties and keeps the first error.
type reader struct {
	properties *ycsb.Properties
	err        error
}

func (r *reader) fail(name, value, remedy string) {
	if r.err == nil {
		r.err = fmt.Errorf("property %s=%s: %s", name, value, remedy)
	}
}

func (r *reader) text(name, def string) string {
	value, _ := r.properties.Get(name)
	if value = strings.TrimSpace(value); value == "" {
		return def
	}
	return value
}

func (r *reader) boolean(name string, def bool) bool {
	value := r.text(name, strconv.FormatBool(def))
	switch strings.ToLower(value) {
	case "true":
		return true
	case "false":
		return false
	}
	r.fail(name, value, "choose true or false")
	return def
}

// bytes is a number of at least 1 and at most 1 GiB.
func (r *reader) bytes(name string, def int64) int64 {
	value := r.text(name, strconv.FormatInt(def, 10))
	n, err := strconv.ParseInt(value, 10, 64)
	if err != nil || n < 1 || n > 1<<30 {
		r.fail(name, value, "choose a number of bytes from 1 to 1073741824")
	}
	return n
}

func (r *reader) durability() hbase.Durability {
	value := r.text(propertyDurability, "USE_DEFAULT")
	switch value {
	case "USE_DEFAULT":
		return hbase.UseDefault
	case "SKIP_WAL":
		return hbase.SkipWAL
	case "ASYNC_WAL":
		return hbase.AsyncWAL
	case "SYNC_WAL":
		return hbase.SyncWAL
	case "FSYNC_WAL":
		return hbase.FsyncWAL
	}
	r.fail(propertyDurability, value, "choose USE_DEFAULT, SKIP_WAL, ASYNC_WAL, SYNC_WAL or FSYNC_WAL")
	return hbase.UseDefault
}

// noValueFilter refuses the filter that YCSB's newer binding can put on scans.
func (r *reader) noValueFilter() error {
	if r.boolean(propertyValues, false) {
		r.fail(propertyValues, "true", "filtering by value is not supported; leave it out")
	}
	for _, name := range []string{propertyOperator, propertyValue} {
		if value, ok := r.properties.Get(name); ok {
			r.fail(name, value, "filtering by value is not supported; leave it out")
		}
	}
	return r.err
}
