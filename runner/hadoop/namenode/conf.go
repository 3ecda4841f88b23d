package namenode

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/hadoop-bench/operator/runner/hadoop/conf"
	"github.com/hadoop-bench/operator/runner/hadoop/sasl"
)

// An Identity is who acts.
type Identity struct {
	User     string     // under simple authentication
	Kerberos sasl.Login // nil without Kerberos
	// CanonicalHost completes a host's name for _HOST in principals. Default: the name that DNS has for its address.
	CanonicalHost func(host string) (string, error)
}

// FromConf makes Options of what the configuration says about the client's side of RPC and of failover, each property with
// Hadoop's own default. What is not a matter of configuration, such as Clock and the number of connections, is left to set.
// A value that cannot be used, and an identity that does not fit the authentication, is an error that names the property.
//
// Two properties are taken more strictly than in Hadoop, where 0 means that nothing ends: ipc.client.rpc-timeout.ms 0 is
// its default here. dfs.namenode.kerberos.principal.pattern does not widen what dfs.namenode.kerberos.principal says.
func FromConf(c *conf.Conf, fs conf.FileSystem, id Identity) (Options, error) {
	r := reader{conf: c}
	o := Options{Addresses: fs.Addresses}
	o.RPC.User = id.User
	o.RPC.DialTimeout = r.duration("ipc.client.connect.timeout", 20*time.Second)
	o.RPC.CallTimeout = r.callTimeout()
	o.RPC.PingInterval = r.duration("ipc.ping.interval", time.Minute)
	o.RPC.MaxFrame = r.count("ipc.maximum.data.length", 128<<20)
	o.Failover.MaxRetries = r.count("dfs.client.retry.max.attempts", defaultMaxRetries)
	o.Failover.BaseSleep = r.duration("dfs.client.failover.sleep.base.millis", defaultBaseSleep)
	o.Failover.MaxSleep = r.duration("dfs.client.failover.sleep.max.millis", defaultMaxSleep)
	o.Failover.MaxAttempts = r.count("dfs.client.failover.max.attempts", defaultMaxAttempts)
	connects := r.count("ipc.client.connect.max.retries", 10)
	interval := r.duration("ipc.client.connect.retry.interval", time.Second)
	if len(fs.Addresses) == 1 {
		o.Failover.MaxAttempts, o.Failover.Deadline = connects, time.Duration(connects)*interval
	}
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

// callTimeout is the time limit of one call.
func (r *reader) callTimeout() time.Duration {
	const name, def = "ipc.client.rpc-timeout.ms", 2 * time.Minute
	if d, err := r.conf.Duration(name, time.Millisecond, def); err == nil && d == 0 {
		return def
	}
	return r.duration(name, def)
}

// count is a number of at least 1.
func (r *reader) count(name string, def int) int {
	n, err := r.conf.Int(name, int64(def))
	if err != nil {
		r.fail(err)
	} else if n < 1 || n > 1<<31-1 {
		r.fail(fmt.Errorf("property %s: %d is not between 1 and %d", name, n, 1<<31-1))
	}
	return int(n)
}

// security decides how the client shows who it is.
func (r *reader) security(o *Options, id Identity) {
	const name = "hadoop.security.authentication"
	method, err := r.conf.String(name, "")
	if err != nil {
		r.fail(err)
		return
	}
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
	if o.RPC.AllowSimpleFallback, err = r.conf.Bool("ipc.client.fallback-to-simple-auth-allowed", false); err != nil {
		r.fail(err)
	}
	if id.Kerberos != nil {
		o.RPC.Kerberos = id.Kerberos
		o.RPC.ServerPrincipal = r.serverPrincipal(id)
	}
}

// protection is the list of what may happen to bytes, best first.
func (r *reader) protection() []string {
	const name = "hadoop.rpc.protection"
	words, err := r.conf.List(name)
	if err != nil {
		r.fail(err)
	}
	if words == nil {
		words = []string{"authentication"}
	}
	for i, word := range words {
		words[i] = strings.ToLower(word)
		switch words[i] {
		case "authentication", "integrity", "privacy":
		default:
			r.fail(fmt.Errorf("property %s: %q is none of authentication, integrity, privacy", name, word))
		}
	}
	return words
}

// serverPrincipal makes the function that says which principal a NameNode has.
func (r *reader) serverPrincipal(id Identity) func(host string) (string, error) {
	const name = "dfs.namenode.kerberos.principal"
	principal, err := r.conf.String(name, "")
	if err != nil {
		r.fail(err)
		return nil
	}
	if principal == "" {
		r.fail(fmt.Errorf("property %s is not set; with Kerberos the NameNode's principal must be known, such as nn/_HOST@EXAMPLE.COM", name))
		return nil
	}
	canonical := id.CanonicalHost
	if canonical == nil {
		canonical = canonicalHost
	}
	return func(host string) (string, error) {
		if !strings.Contains(principal, "/_HOST") {
			return principal, nil
		}
		full, err := canonical(host)
		if err != nil {
			return "", fmt.Errorf("find the full name of %s for property %s %q: %w", host, name, principal, err)
		}
		return strings.Replace(principal, "/_HOST", "/"+strings.ToLower(full), 1), nil
	}
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
