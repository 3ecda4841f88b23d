package conf

import (
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"
)

// DefaultRPCPort is the NameNode's port where a URI names none.
const DefaultRPCPort = 8020

// A FileSystem is an HDFS and where its NameNodes are.
type FileSystem struct {
	URI       string   // hdfs://host:port, or hdfs://nameservice
	Addresses []string // host:port of every NameNode's RPC server, in the order of the configuration
}

// FileSystem resolves the file system of a URI; an empty uri means the property fs.defaultFS. The URI's host is a name
// service if dfs.ha.namenodes.<host> or dfs.namenode.rpc-address.<host> is set, and else a NameNode's own address.
func (c *Conf) FileSystem(uri string) (FileSystem, error) {
	origin := "the file system"
	if uri == "" {
		var err error
		if uri, err = c.String("fs.defaultFS", ""); err != nil {
			return FileSystem{}, err
		}
		origin = "property fs.defaultFS"
	}
	if uri == "" {
		return FileSystem{}, fmt.Errorf("no file system: neither an address nor the property fs.defaultFS is set; give hdfs://<namenode>:%d", DefaultRPCPort)
	}
	u, err := url.Parse(uri)
	if err != nil {
		return FileSystem{}, fmt.Errorf("%s %q: not a URI; give hdfs://<namenode>:%d", origin, uri, DefaultRPCPort)
	}
	if u.Scheme != "hdfs" {
		return FileSystem{}, fmt.Errorf("%s %q: scheme %q is not supported; give hdfs://<namenode>:%d, or hdfs://<name service>", origin, uri, u.Scheme, DefaultRPCPort)
	}
	if u.Host == "" || u.Hostname() == "" || u.User != nil || u.RawQuery != "" || (u.Path != "" && u.Path != "/") {
		return FileSystem{}, fmt.Errorf("%s %q: more or less than a host and a port; give hdfs://<namenode>:%d", origin, uri, DefaultRPCPort)
	}
	fs := FileSystem{URI: "hdfs://" + u.Host}
	if u.Port() == "" {
		if fs.Addresses, err = c.nameService(u.Hostname()); err != nil {
			return FileSystem{}, err
		}
	}
	if fs.Addresses == nil {
		address, err := withPort(u.Host)
		if err != nil {
			return FileSystem{}, fmt.Errorf("%s %q: %w", origin, uri, err)
		}
		fs.Addresses = []string{address}
		fs.URI = "hdfs://" + address
	}
	return fs, nil
}

// nameService returns the addresses of a name service; nil if the configuration knows no such service.
func (c *Conf) nameService(service string) ([]string, error) {
	ids, err := c.List("dfs.ha.namenodes." + service)
	if err != nil {
		return nil, err
	}
	if ids == nil {
		address, err := c.rpcAddress("dfs.namenode.rpc-address." + service)
		if err != nil || address == "" {
			return nil, err
		}
		return []string{address}, nil
	}
	addresses := make([]string, 0, len(ids))
	for _, id := range ids {
		name := "dfs.namenode.rpc-address." + service + "." + id
		address, err := c.rpcAddress(name)
		if err != nil {
			return nil, err
		}
		if address == "" {
			return nil, fmt.Errorf("property %s is not set, but dfs.ha.namenodes.%s names NameNode %q; add its host:port", name, service, id)
		}
		addresses = append(addresses, address)
	}
	return addresses, nil
}

// rpcAddress returns host:port of a property; empty if it is not set.
func (c *Conf) rpcAddress(name string) (string, error) {
	value, err := c.String(name, "")
	if err != nil || value == "" {
		return "", err
	}
	address, err := withPort(value)
	if err != nil {
		return "", c.invalid(name, err.Error())
	}
	return address, nil
}

// withPort completes host or host:port, where an IPv6 address with a port stands in brackets.
func withPort(hostport string) (string, error) {
	host, port := hostport, strconv.Itoa(DefaultRPCPort)
	bare := strings.HasPrefix(hostport, "[") && strings.HasSuffix(hostport, "]")
	switch {
	case bare:
		host = hostport[1 : len(hostport)-1]
	case strings.Count(hostport, ":") == 1 || strings.HasPrefix(hostport, "["):
		var err error
		if host, port, err = net.SplitHostPort(hostport); err != nil {
			return "", fmt.Errorf("not host:port; give <namenode>:%d", DefaultRPCPort)
		}
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
		return "", fmt.Errorf("port %q is not between 1 and 65535", port)
	}
	if host == "" || strings.ContainsAny(host, " /,@[]") {
		return "", fmt.Errorf("host %q is not a host name or an address", host)
	}
	return net.JoinHostPort(host, port), nil
}
