package hbase

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/hadoop-bench/operator/runner/hadoop/conf"
	"github.com/hadoop-bench/operator/runner/hadoop/sasl"
	"github.com/hadoop-bench/operator/runner/hbase/registry"
	"github.com/hadoop-bench/operator/runner/hbase/rpc"
)

// An Identity is who acts.
type Identity struct {
	User     string     // under simple authentication
	Kerberos sasl.Login // nil without Kerberos
	// CanonicalHost completes a host's name for _HOST in principals. Default: the name that DNS has for its address.
	CanonicalHost func(host string) (string, error)
}

// ConfFiles are the names of the files that HBase's clients read, for conf.Options.Files.
func ConfFiles() []string { return []string{"core-site.xml", "hbase-site.xml"} }

// Ports where a configuration names only hosts.
const (
	zooKeeperPort = 2181
	masterPort    = 16000
)

// FromConf makes Options of what the configuration says about HBase's client, each property with HBase's own default,
// except that hbase.client.operation.timeout is a minute and hbase.rpc.timeout 20 s where they are not set, and that
// hbase.client.retries.number bounds nothing there. A value that cannot be used, and an identity that does not fit the
// authentication, is an error that names the property.
func FromConf(c *conf.Conf, id Identity) (Options, error) {
	r := reader{conf: c}
	var o Options
	o.RPC.User = id.User
	o.RPC.Connections = r.count("hbase.client.ipc.pool.size", 1, 1, 1<<10)
	o.RPC.CallTimeout = r.duration("hbase.rpc.timeout", DefaultAttempt)
	o.Calls = CallTime{
		Operation: r.duration("hbase.client.operation.timeout", DefaultOperation),
		Attempt:   o.RPC.CallTimeout,
		Pause:     r.duration("hbase.client.pause", DefaultPause),
		Retries:   r.retries(),
	}
	o.WriteBuffer = r.size("hbase.client.write.buffer", DefaultWriteBuffer)
	o.MaxCell = r.maxCell()
	o.Registry = r.registry()
	r.security(&o, id)
	return o, r.err
}

// A reader reads properties and keeps the first error.
type reader struct {
	conf *conf.Conf
	err  error
}

func (r *reader) fail(err error) {
	if r.err == nil {
		r.err = err
	}
}

// duration is a time of at least a millisecond, in milliseconds where it has no unit.
func (r *reader) duration(name string, def time.Duration) time.Duration {
	d, err := r.conf.Duration(name, time.Millisecond, def)
	if err != nil {
		r.fail(err)
	} else if d < time.Millisecond || d > 24*time.Hour {
		r.fail(fmt.Errorf("property %s: %v is not between a millisecond and a day", name, d))
	}
	return d
}

func (r *reader) count(name string, def, low, high int) int {
	n, err := r.conf.Int(name, int64(def))
	if err != nil {
		r.fail(err)
	} else if n < int64(low) || n > int64(high) {
		r.fail(fmt.Errorf("property %s: %d is not between %d and %d", name, n, low, high))
	}
	return int(n)
}

// retries is how CallTime says what hbase.client.retries.number says.
func (r *reader) retries() int {
	const name, notSet = "hbase.client.retries.number", -1
	n := r.count(name, notSet, notSet, 1<<30)
	switch value, _ := r.string(name, ""); {
	case value == "":
		return 0
	case n == notSet:
		r.fail(fmt.Errorf("property %s: %d is not between 0 and %d", name, n, 1<<30))
	case n == 0:
		return NoRetries
	}
	return n
}

func (r *reader) size(name string, def int64) int64 {
	n, err := r.conf.Size(name, def)
	if err != nil {
		r.fail(err)
	} else if n < 1 || n > 1<<30 {
		r.fail(fmt.Errorf("property %s: %d bytes are not between 1 and %d", name, n, 1<<30))
	}
	return n
}

// maxCell is a size of which 0 and less mean that there is no bound.
func (r *reader) maxCell() int64 {
	n, err := r.conf.Size("hbase.client.keyvalue.maxsize", DefaultMaxCell)
	if err != nil {
		r.fail(err)
	}
	if n <= 0 {
		return -1
	}
	return n
}

func (r *reader) string(name, def string) (string, error) {
	value, err := r.conf.String(name, def)
	if err != nil {
		r.fail(err)
	}
	return value, err
}

// registry is whom to ask where HBase is.
func (r *reader) registry() registry.Config {
	const name = "hbase.client.registry.impl"
	impl, _ := r.string(name, "ZKConnectionRegistry")
	switch impl[strings.LastIndexByte(impl, '.')+1:] {
	case "ZKConnectionRegistry", "ZKAsyncRegistry", "ZooKeeperRegistry":
		return r.zooKeeper()
	case "RpcConnectionRegistry":
		servers := r.addresses("hbase.client.bootstrap.servers", masterPort)
		if len(servers) == 0 {
			servers = r.masters()
		}
		return registry.Config{Kind: registry.RPC, Servers: servers}
	case "MasterRegistry":
		return registry.Config{Kind: registry.RPC, Servers: r.masters()}
	}
	r.fail(fmt.Errorf("property %s: %q is none of the registries known here: ZKConnectionRegistry, RpcConnectionRegistry, MasterRegistry", name, impl))
	return registry.Config{}
}

func (r *reader) zooKeeper() registry.Config {
	port := r.count("hbase.zookeeper.property.clientPort", zooKeeperPort, 1, 1<<16-1)
	quorum := r.addresses("hbase.zookeeper.quorum", port)
	if len(quorum) == 0 {
		quorum = []string{net.JoinHostPort("127.0.0.1", strconv.Itoa(port))}
	}
	const parent = "zookeeper.znode.parent"
	path, _ := r.string(parent, registry.DefaultParent)
	if !strings.HasPrefix(path, "/") {
		r.fail(fmt.Errorf("property %s: %q does not begin with /; it is a path such as %s", parent, path, registry.DefaultParent))
	}
	return registry.Config{
		Kind: registry.ZooKeeper, Quorum: quorum, Parent: path,
		SessionTimeout: r.duration("zookeeper.session.timeout", registry.DefaultSessionTimeout),
	}
}

func (r *reader) masters() []string {
	servers := r.addresses("hbase.masters", masterPort)
	if len(servers) == 0 {
		r.fail(errors.New("no server to ask where HBase is: set hbase.client.bootstrap.servers or hbase.masters, each entry host:port"))
	}
	return servers
}

// addresses is a list of hosts, each with a port of its own or else with port.
func (r *reader) addresses(name string, port int) []string {
	list, err := r.conf.List(name)
	if err != nil {
		r.fail(err)
	}
	for i, entry := range list {
		if list[i], err = withPort(entry, port); err != nil {
			r.fail(fmt.Errorf("property %s: %q: %w; write host:port", name, entry, err))
		}
	}
	return list
}

func withPort(entry string, port int) (string, error) {
	host, own, err := net.SplitHostPort(entry)
	if err != nil {
		host, own = strings.Trim(entry, "[]"), strconv.Itoa(port)
		if strings.Contains(host, ":") && net.ParseIP(host) == nil {
			return "", err
		}
	}
	if n, err := strconv.ParseUint(own, 10, 16); err != nil || n == 0 {
		return "", fmt.Errorf("%q is not a port", own)
	}
	if host == "" {
		return "", errors.New("there is no host")
	}
	return net.JoinHostPort(host, own), nil
}

// security decides how the client shows who it is.
func (r *reader) security(o *Options, id Identity) {
	const name = "hbase.security.authentication"
	method, _ := r.string(name, "")
	switch strings.ToLower(method) {
	case "":
	case "simple":
		if id.Kerberos != nil {
			r.fail(fmt.Errorf("property %s is %q, but a Kerberos principal is given; set the property to kerberos, or give no principal", name, method))
		}
	case "kerberos":
		if id.Kerberos == nil {
			r.fail(fmt.Errorf("property %s is %q, but no Kerberos principal with a keytab or a ticket cache is given", name, method))
		}
	default:
		r.fail(fmt.Errorf("property %s: %q is neither simple nor kerberos", name, method))
	}
	o.RPC.Protection = r.protection()
	if id.Kerberos != nil {
		o.RPC.Kerberos = id.Kerberos
		o.RPC.ServerPrincipal = r.serverPrincipal(id)
	}
}

// protection is the list of what may happen to bytes, best first.
func (r *reader) protection() []string {
	const name = "hbase.rpc.protection"
	words, err := r.conf.List(name)
	if err != nil {
		r.fail(err)
	}
	if words == nil {
		words = []string{string(sasl.Authentication)}
	}
	for i, word := range words {
		words[i] = strings.ToLower(word)
		if !sasl.Protection(words[i]).Valid() {
			r.fail(fmt.Errorf("property %s: %q is none of authentication, integrity, privacy", name, word))
		}
	}
	return words
}

// serverPrincipal makes the function that says which principal a server has. ClientMetaService is answered by masters and
// by RegionServers; the master's principal stands for both, as nearly all clusters have one for all.
func (r *reader) serverPrincipal(id Identity) func(rpc.Service, string) (string, error) {
	master := r.principal("hbase.master.kerberos.principal")
	region := r.principal("hbase.regionserver.kerberos.principal")
	canonical := id.CanonicalHost
	if canonical == nil {
		canonical = canonicalHost
	}
	return func(service rpc.Service, host string) (string, error) {
		principal := region
		if service == rpc.MasterService || service == rpc.ClientMetaService {
			principal = master
		}
		if !strings.Contains(principal, "/_HOST") {
			return principal, nil
		}
		full, err := canonical(host)
		if err != nil {
			return "", fmt.Errorf("find the full name of %s for the principal %q: %w", host, principal, err)
		}
		return strings.Replace(principal, "/_HOST", "/"+strings.ToLower(full), 1), nil
	}
}

func (r *reader) principal(name string) string {
	value, err := r.string(name, "")
	if err == nil && value == "" {
		r.fail(fmt.Errorf("property %s is not set; with Kerberos the servers' principals must be known, such as hbase/_HOST@EXAMPLE.COM", name))
	}
	return value
}

// resolveTimeout bounds the look-up of a host's full name.
const resolveTimeout = 20 * time.Second

// canonicalHost is the name that DNS has for a host's address, or the name it was given if there is none.
func canonicalHost(host string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), resolveTimeout)
	defer cancel()
	addresses, err := net.DefaultResolver.LookupHost(ctx, host)
	if err != nil {
		return "", err
	}
	names, err := net.DefaultResolver.LookupAddr(ctx, addresses[0])
	if notFound := new(net.DNSError); err != nil && !errors.As(err, &notFound) {
		return "", err
	}
	if len(names) == 0 {
		return host, nil
	}
	return strings.TrimSuffix(names[0], "."), nil
}
