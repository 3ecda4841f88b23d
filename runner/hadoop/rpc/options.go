package rpc

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"github.com/hadoop-bench/operator/runner/hadoop/sasl"
)

// Options of a [Client]. The zero value of a field means the default that is said beside it.
type Options struct {
	// ClientID tells servers which calls are retries of one another; zero means one made from Random.
	ClientID [16]byte
	// User is who we say we are where nothing is proved (SIMPLE). With Kerberos it is the login's principal.
	User string
	// Kerberos authenticates; nil means SIMPLE.
	Kerberos sasl.Login
	// AllowSimpleFallback lets a client with Kerberos go on unauthenticated if a server asks for that.
	AllowSimpleFallback bool
	// Protection are the words of hadoop.rpc.protection that are good enough, best first: authentication, integrity,
	// privacy. Default: authentication.
	Protection []string
	// ServerPrincipal is the Kerberos principal that the server at host must have. Needed with Kerberos.
	ServerPrincipal func(host string) (string, error)
	// Connections to each address and protocol. Default: 1.
	Connections int
	// DialTimeout bounds connecting and the handshake. Default: 20 s.
	DialTimeout time.Duration
	// CallTimeout bounds each call from its sending on, to within a sixteenth. Default: 60 s.
	CallTimeout time.Duration
	// PingInterval is how long a connection may be silent before the server is sent a sign of life. Default: 60 s.
	PingInterval time.Duration
	// MaxFrame is the largest request and response, in bytes. Default: 128 MiB.
	MaxFrame int
	// CallerContext tags our calls in the server's audit log; empty means none.
	CallerContext string
	// ObserverReads sends the last seen state id with each call, which reads from observers need.
	ObserverReads bool
	// Dial opens connections. Default: that of net.Dialer.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
	// Random is read for the client id. Default: crypto/rand.Reader.
	Random io.Reader
}

// Defaults of Options.
const (
	defaultDialTimeout  = 20 * time.Second
	defaultCallTimeout  = 60 * time.Second
	defaultPingInterval = 60 * time.Second
	defaultMaxFrame     = 128 << 20
)

// complete fills in the defaults.
func (o Options) complete() (Options, error) {
	o.Connections = max(o.Connections, 1)
	o.DialTimeout = orDefault(o.DialTimeout, defaultDialTimeout)
	o.CallTimeout = orDefault(o.CallTimeout, defaultCallTimeout)
	o.PingInterval = orDefault(o.PingInterval, defaultPingInterval)
	o.MaxFrame = orDefault(o.MaxFrame, defaultMaxFrame)
	if o.Dial == nil {
		o.Dial = new(net.Dialer).DialContext
	}
	if o.Random == nil {
		o.Random = rand.Reader
	}
	if len(o.Protection) == 0 {
		o.Protection = []string{string(sasl.Authentication)}
	}
	for _, word := range o.Protection {
		if !sasl.Protection(word).Valid() {
			return o, fmt.Errorf("hadoop.rpc.protection %q: it must be authentication, integrity or privacy", word)
		}
	}
	if o.Kerberos != nil && o.ServerPrincipal == nil {
		return o, errors.New("the NameNode's Kerberos principal is not known: set dfs.namenode.kerberos.principal")
	}
	return o, nil
}

func orDefault[T int | time.Duration](v, fallback T) T {
	if v <= 0 {
		return fallback
	}
	return v
}
