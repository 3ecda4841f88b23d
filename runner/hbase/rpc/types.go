package rpc

import (
	"context"
	"net"
	"time"

	"github.com/hadoop-bench/operator/runner/hadoop/sasl"
)

// A Service is what a connection is for; a server refuses calls of any other on it. Values as in the connection header.
type Service string

// The services that the client speaks to.
const (
	ClientService     Service = "ClientService"     // of RegionServers: data
	AdminService      Service = "AdminService"      // of RegionServers: regions
	MasterService     Service = "MasterService"     // of masters
	ClientMetaService Service = "ClientMetaService" // the registry: of masters and, since 2.5, of RegionServers
)

// Options of a Client. The zero value of a field means the default that is said beside it.
type Options struct {
	// User is who we say we are where nothing is proved. With Kerberos it is the login's principal.
	User string
	// Kerberos authenticates; nil means simple.
	Kerberos sasl.Login
	// AllowSimpleFallback lets a client with Kerberos go on unauthenticated if a server asks for that.
	AllowSimpleFallback bool
	// Protection are the words of hbase.rpc.protection that are good enough, best first. Default: authentication.
	Protection []string
	// ServerPrincipal is the Kerberos principal that the server of a service at host must have. Needed with Kerberos.
	ServerPrincipal func(service Service, host string) (string, error)
	// Connections to each address and service. Default: 1, as the Java client has.
	Connections int
	// DialTimeout bounds connecting and the handshake. Default: 10 s.
	DialTimeout time.Duration
	// CallTimeout bounds each call that has no Timeout of its own, from its sending on, to within a sixteenth. Default: 20 s.
	CallTimeout time.Duration
	// MaxFrame bounds what is sent and accepted in one frame, in bytes. Default: 256 MiB.
	MaxFrame int
	// Dial opens connections. Default: net.Dialer's, without delay.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
}

// A Call is one request and its answer. It is used by one goroutine and may be used again after Do returned. It must not
// be copied. What it is given may be changed once Do has returned.
type Call struct {
	Address    string // host:port
	Service    Service
	Method     string // as on the wire: Get, Mutate, Multi, Scan, ...
	Connection int    // which of Options.Connections, taken modulo their number
	Param      []byte // the request's message, encoded, without its length
	Cells      []byte // cellblock that goes with it; may be empty
	Priority   uint32
	Timeout    time.Duration // 0: Options.CallTimeout

	// The answer, valid until the next Do with this call.
	Body   []byte // the answer's message, encoded, without its length
	Answer []byte // cellblock that came with it
	callState
}
