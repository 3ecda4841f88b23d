package rpc_test

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/hadoop-bench/operator/runner/hadoop/conf"
	"github.com/hadoop-bench/operator/runner/hadoop/sasl"
	"github.com/hadoop-bench/operator/runner/hbase"
	"github.com/hadoop-bench/operator/runner/hbase/cell"
	"github.com/hadoop-bench/operator/runner/hbase/registry"
	"github.com/hadoop-bench/operator/runner/hbase/rpc"
	"github.com/hadoop-bench/operator/runner/hbase/wire"
)

// Real servers for these tests: the client configuration's directory of a cluster, a list of name=directory of others,
// and a realm's directory with the client configuration of the cluster in it.
const (
	hbaseEnv        = "HADOOPBENCH_TEST_HBASE"
	versionsEnv     = "HADOOPBENCH_TEST_HBASE_VERSIONS"
	kerberosEnv     = "HADOOPBENCH_TEST_HBASE_KERBEROS"
	kerberosConfEnv = "HADOOPBENCH_TEST_HBASE_KERBEROS_CONF"
)

// A realServer is a RegionServer that has hbase:meta, and how to speak to it.
type realServer struct {
	address string
	options rpc.Options
}

// locate reads a client configuration and asks where hbase:meta is.
func locate(t *testing.T, dir string, id hbase.Identity) realServer {
	t.Helper()
	c, err := conf.LoadDir(dir, conf.Options{Files: hbase.ConfFiles()})
	if err != nil {
		t.Fatal(err)
	}
	o, err := hbase.FromConf(c, id)
	if err != nil {
		t.Fatal(err)
	}
	r, err := registry.Open(o.Registry, newClient(t, o.RPC))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	meta, err := r.MetaServer(deadline(t))
	if err != nil {
		t.Fatal(err)
	}
	return realServer{address: meta.Address, options: o.RPC}
}

// eachRealServer runs a test on each version that there is.
func eachRealServer(t *testing.T, test func(t *testing.T, s realServer)) {
	dirs := map[string]string{}
	if dir := os.Getenv(hbaseEnv); dir != "" {
		dirs["cluster"] = dir
	}
	for _, entry := range strings.Split(os.Getenv(versionsEnv), ",") {
		if name, dir, ok := strings.Cut(entry, "="); ok {
			dirs[name] = dir
		}
	}
	if len(dirs) == 0 {
		t.Skipf("neither %s nor %s is set", hbaseEnv, versionsEnv)
	}
	for name, dir := range dirs {
		t.Run(name, func(t *testing.T) { test(t, locate(t, dir, hbase.Identity{User: "alice"})) })
	}
}

// metaRegion is how requests name hbase:meta.
func metaRegion() *wire.RegionSpecifier {
	return wire.RegionSpecifier_builder{Type: wire.RegionSpecifier_REGION_NAME.Enum(), Value: []byte("hbase:meta,,1")}.Build()
}

// scanMeta asks for the first rows of hbase:meta and returns their cells, copied.
func scanMeta(t *testing.T, c *rpc.Client, s realServer, rows uint32) (cells []cell.Cell, perRow []uint32) {
	t.Helper()
	param, err := proto.Marshal(wire.ScanRequest_builder{
		Region: metaRegion(), NumberOfRows: proto.Uint32(rows), CloseScanner: proto.Bool(true),
		Scan: wire.Scan_builder{Column: []*wire.Column{wire.Column_builder{Family: []byte("info")}.Build()}}.Build(),
	}.Build())
	if err != nil {
		t.Fatal(err)
	}
	call := rpc.Call{Address: s.address, Service: rpc.ClientService, Method: "Scan", Param: param}
	if err := c.Do(deadline(t), &call); err != nil {
		t.Fatal(err)
	}
	var answer wire.ScanResponse
	if err := proto.Unmarshal(call.Body, &answer); err != nil {
		t.Fatal(err)
	}
	if len(answer.GetResults()) > 0 {
		t.Errorf("%d results came inside the message, want them beside it", len(answer.GetResults()))
	}
	return readCells(t, call.Answer), answer.GetCellsPerResult()
}

func readCells(t *testing.T, block []byte) []cell.Cell {
	t.Helper()
	r := cell.NewReader(slices.Clone(block))
	var cells []cell.Cell
	for x := (cell.Cell{}); r.Next(&x); {
		cells = append(cells, x)
	}
	if r.Err() != nil {
		t.Fatal(r.Err())
	}
	return cells
}

func getMeta(row []byte) *wire.GetRequest {
	return wire.GetRequest_builder{
		Region: metaRegion(),
		Get:    wire.Get_builder{Row: row, Column: []*wire.Column{wire.Column_builder{Family: []byte("info")}.Build()}}.Build(),
	}.Build()
}

// TestRealMeta reads hbase:meta by Scan and by Get: both must find the same cells, and beside their messages.
func TestRealMeta(t *testing.T) {
	eachRealServer(t, func(t *testing.T, s realServer) {
		c := newClient(t, s.options)
		cells, perRow := scanMeta(t, c, s, 3)
		if len(cells) == 0 || len(perRow) == 0 || int(perRow[0]) > len(cells) {
			t.Fatalf("found %d cells, %d in each row", len(cells), perRow)
		}
		param, err := proto.Marshal(getMeta(cells[0].Row))
		if err != nil {
			t.Fatal(err)
		}
		call := rpc.Call{Address: s.address, Service: rpc.ClientService, Method: "Get", Param: param}
		if err := c.Do(deadline(t), &call); err != nil {
			t.Fatal(err)
		}
		var answer wire.GetResponse
		if err := proto.Unmarshal(call.Body, &answer); err != nil {
			t.Fatal(err)
		}
		row := readCells(t, call.Answer)
		if n := int(answer.GetResult().GetAssociatedCellCount()); n != len(row) || n == 0 {
			t.Errorf("the message tells of %d cells, %d came beside it", n, len(row))
		}
		for i, x := range row {
			want := cells[i]
			if string(x.Row) != string(want.Row) || string(x.Family) != "info" || string(x.Qualifier) != string(want.Qualifier) || x.Type != cell.Put {
				t.Errorf("Get found cell %d %s %s:%s type %d, Scan found %s", i, x.Row, x.Family, x.Qualifier, x.Type, want.Qualifier)
			}
		}
	})
}

// TestRealExceptions: what real servers answer to what they do not accept.
func TestRealExceptions(t *testing.T) {
	nowhere := wire.RegionSpecifier_builder{Type: wire.RegionSpecifier_REGION_NAME.Enum(), Value: []byte("nowhere,,1.0123456789abcdef0123456789abcdef.")}.Build()
	tests := map[string]struct {
		method, class string
		request       proto.Message
		noRetry       bool
	}{
		"a region that is not there": {"Get", "NotServingRegionException", wire.GetRequest_builder{
			Region: nowhere, Get: wire.Get_builder{Row: []byte("r")}.Build(),
		}.Build(), false},
		"a family that is not there": {"Get", "NoSuchColumnFamilyException", wire.GetRequest_builder{
			Region: metaRegion(), Get: wire.Get_builder{Row: []byte("r"), Column: []*wire.Column{wire.Column_builder{Family: []byte("none")}.Build()}}.Build(),
		}.Build(), true},
		"a scanner that is not there": {"Scan", "UnknownScannerException", wire.ScanRequest_builder{
			ScannerId: proto.Uint64(1), NumberOfRows: proto.Uint32(1),
		}.Build(), true},
		"a method that is not there": {"Fly", "org.apache.hadoop.hbase.DoNotRetryIOException", getMeta([]byte("r")), true},
	}
	eachRealServer(t, func(t *testing.T, s realServer) {
		c := newClient(t, s.options)
		for name, tt := range tests {
			t.Run(name, func(t *testing.T) {
				err := c.Invoke(deadline(t), s.address, rpc.ClientService, tt.method, tt.request, &wire.GetResponse{}, 0)
				var remote *rpc.RemoteError
				if !errors.As(err, &remote) || !rpc.Is(err, tt.class) || remote.DoNotRetry != tt.noRetry {
					t.Errorf("got %#v, want %s, do not retry %v", err, tt.class, tt.noRetry)
				}
			})
		}
	})
}

// TestRealManyCalls has many callers on one connection, each of which must get its own answer.
func TestRealManyCalls(t *testing.T) {
	eachRealServer(t, func(t *testing.T, s realServer) { manyCalls(t, s) })
}

func manyCalls(t *testing.T, s realServer) {
	c := newClient(t, s.options)
	cells, perRow := scanMeta(t, c, s, 100)
	var rows [][]byte
	for i := 0; i < len(cells); i += int(perRow[len(rows)-1]) {
		rows = append(rows, cells[i].Row)
	}
	var wait sync.WaitGroup
	for caller := range 8 {
		wait.Go(func() {
			row := rows[caller%len(rows)]
			param, err := proto.Marshal(getMeta(row))
			if err != nil {
				t.Error(err)
				return
			}
			call := rpc.Call{Address: s.address, Service: rpc.ClientService, Method: "Get", Param: param}
			for range 100 {
				if err := c.Do(deadline(t), &call); err != nil {
					t.Error(err)
					return
				}
				r, x := cell.NewReader(call.Answer), cell.Cell{}
				if !r.Next(&x) || string(x.Row) != string(row) {
					t.Errorf("asked for %s, got %s", row, x.Row)
					return
				}
			}
		})
	}
	wait.Wait()
}

// TestRealRegistry asks masters and RegionServers for the cluster's id.
func TestRealRegistry(t *testing.T) {
	eachRealServer(t, func(t *testing.T, s realServer) {
		var answer wire.GetClusterIdResponse
		err := newClient(t, s.options).Invoke(deadline(t), s.address, rpc.ClientMetaService, "GetClusterId", &wire.GetClusterIdRequest{}, &answer, 0)
		if strings.HasSuffix(t.Name(), "/1.7") {
			// There it is a service of masters alone, and a server closes a connection for one that it does not have.
			if lost := new(rpc.LostError); !errors.As(err, &lost) || !strings.Contains(err.Error(), "if it has no ClientMetaService") {
				t.Errorf("got %v, want a closed connection", err)
			}
			return
		}
		if err != nil || len(answer.GetClusterId()) != 36 {
			t.Errorf("got cluster id %q and error %v", answer.GetClusterId(), err)
		}
	})
}

// kerberosLogin is alice's, whom the realm knows.
func kerberosLogin(t *testing.T) (confDir string, id hbase.Identity) {
	t.Helper()
	realm, dir := os.Getenv(kerberosEnv), os.Getenv(kerberosConfEnv)
	if realm == "" || dir == "" {
		t.Skipf("%s or %s is not set", kerberosEnv, kerberosConfEnv)
	}
	l, err := sasl.FromKeytab("alice", filepath.Join(realm, "keytabs", "alice.keytab"), filepath.Join(realm, "krb5.conf"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return dir, hbase.Identity{Kerberos: l}
}

// TestRealKerberos speaks to a real server with each protection, and looks at the bytes: only privacy hides them.
func TestRealKerberos(t *testing.T) {
	dir, id := kerberosLogin(t)
	s := locate(t, dir, id)
	for _, protection := range []string{"authentication", "integrity", "privacy"} {
		t.Run(protection, func(t *testing.T) {
			var wiretap tap
			s := s
			s.options.Protection = []string{protection}
			manyCalls(t, s)
			s.options.Dial = wiretap.dial
			scanMeta(t, newClient(t, s.options), s, 1)
			if got, want := wiretap.has("hbase:meta,,1"), protection != "privacy"; got != want {
				t.Errorf("the region's name is in the bytes on the wire: %v, want %v", got, want)
			}
		})
	}
}

// TestRealKerberosRefusals: what goes wrong between a client and a secure server, or the other way round.
func TestRealKerberosRefusals(t *testing.T) {
	dir, id := kerberosLogin(t)
	s := locate(t, dir, id)
	simple := rpc.Options{User: "alice"}
	other := s.options
	other.ServerPrincipal = func(rpc.Service, string) (string, error) { return "alice@HB.TEST", nil }
	tests := map[string]struct {
		options rpc.Options
		want    string
	}{
		"simple":              {simple, "is required"},
		"another's principal": {other, "alice@HB.TEST"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			err := newClient(t, tt.options).Invoke(deadline(t), s.address, rpc.ClientService, "Get", getMeta([]byte("r")), &wire.GetResponse{}, 0)
			if refused := new(rpc.ConnectError); !errors.As(err, &refused) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
	t.Run("a server without Kerberos", func(t *testing.T) {
		plain := os.Getenv(hbaseEnv)
		if plain == "" {
			t.Skipf("%s is not set", hbaseEnv)
		}
		open := locate(t, plain, hbase.Identity{User: "alice"})
		err := newClient(t, s.options).Invoke(deadline(t), open.address, rpc.ClientService, "Get", getMeta([]byte("r")), &wire.GetResponse{}, 0)
		if refused := new(rpc.ConnectError); !errors.As(err, &refused) || !strings.Contains(err.Error(), "the server does not ask for authentication") {
			t.Errorf("got %v, want a refusal", err)
		}
		fallback := s.options
		fallback.AllowSimpleFallback = true
		open.options = fallback
		manyCalls(t, open)
	})
}

// A tap keeps all bytes of connections.
type tap struct {
	mu    sync.Mutex
	bytes []byte
}

func (t *tap) dial(ctx context.Context, network, address string) (net.Conn, error) {
	nc, err := new(net.Dialer).DialContext(ctx, network, address)
	return &tapped{nc, t}, err
}

// has says whether bytes went by in either direction.
func (t *tap) has(s string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.Contains(string(t.bytes), s)
}

func (t *tap) keep(b []byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.bytes = append(t.bytes, b...)
}

type tapped struct {
	net.Conn
	tap *tap
}

func (c *tapped) Write(b []byte) (int, error) {
	c.tap.keep(b)
	return c.Conn.Write(b)
}

func (c *tapped) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	c.tap.keep(b[:n])
	return n, err
}
