package registry_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/hadoop-bench/operator/runner/hbase/hbasetest"
	"github.com/hadoop-bench/operator/runner/hbase/registry"
	"github.com/hadoop-bench/operator/runner/hbase/rpc"
	"github.com/hadoop-bench/operator/runner/hbase/wire"
)

// znode makes the value of a znode as HBase writes it.
func znode(t testing.TB, identity string, m proto.Message) []byte {
	t.Helper()
	message, err := proto.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	value := binary.BigEndian.AppendUint32([]byte{0xFF}, uint32(len(identity)))
	return append(append(append(value, identity...), "PBUF"...), message...)
}

func serverName(host string, port uint32) *wire.ServerName {
	return wire.ServerName_builder{HostName: proto.String(host), Port: proto.Uint32(port), StartCode: proto.Uint64(1700000000001)}.Build()
}

func TestParseServer(t *testing.T) {
	meta := znode(t, "regionserver:16020\x00\x01", wire.MetaRegionServer_builder{
		Server: serverName("198.18.0.1", 16021), RpcVersion: proto.Uint32(0), State: wire.RegionState_OPEN.Enum(),
	}.Build())
	master := znode(t, "", wire.Master_builder{Master: serverName("fe80::1", 16000), InfoPort: proto.Uint32(16010)}.Build())
	tests := map[string]struct {
		value   []byte
		address string
		state   uint64
		err     string
	}{
		"meta":              {meta, "198.18.0.1:16021", 3, ""},
		"master, IPv6":      {master, "[fe80::1]:16000", 16010, ""},
		"without framing":   {master[5:], "[fe80::1]:16000", 16010, ""},
		"empty":             {nil, "", 0, "no PBUF"},
		"cut in its length": {meta[:3], "", 0, "ends within its first 5 bytes"},
		"cut in the middle": {meta[:len(meta)-6], "", 0, "one of HBase's"},
		"identity too long": {[]byte{0xFF, 0x7F, 0, 0, 0, 1}, "", 0, "identity has"},
		"no server":         {[]byte("PBUF"), "", 0, `server "", port 0`},
		"port too large":    {znode(t, "", wire.Master_builder{Master: serverName("h", 1<<16)}.Build()), "", 0, "port 65536"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s, state, err := registry.ParseServer(tt.value)
			if tt.err != "" {
				if err == nil || !strings.Contains(err.Error(), tt.err) {
					t.Errorf("error %v, want one with %q", err, tt.err)
				}
				return
			}
			if err != nil || s.Address != tt.address || s.StartCode != 1700000000001 || state != tt.state {
				t.Errorf("ParseServer: %+v, state %d, %v; want %s, state %d", s, state, err, tt.address, tt.state)
			}
		})
	}
}

func TestParseClusterID(t *testing.T) {
	id, err := registry.ParseClusterID(znode(t, "m", wire.ClusterId_builder{ClusterId: proto.String("4711")}.Build()))
	if id != "4711" || err != nil {
		t.Errorf("ParseClusterID: %q, %v, want 4711", id, err)
	}
	if _, err = registry.ParseClusterID([]byte("PBUF")); err == nil {
		t.Error("ParseClusterID accepted a message without one")
	}
}

func FuzzZnode(f *testing.F) {
	f.Add(znode(f, "x", wire.Master_builder{Master: serverName("h", 1)}.Build()))
	f.Add([]byte{0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 'P'})
	f.Fuzz(func(t *testing.T, value []byte) {
		s, _, err := registry.ParseServer(value)
		if err == nil && (s.Address == "" || !bytes.Contains(value, []byte("PBUF"))) {
			t.Errorf("server %q of %x", s.Address, value)
		}
		if err != nil && !errors.Is(err, registry.ErrZnode) {
			t.Errorf("error %v is none about a znode", err)
		}
		_, _ = registry.ParseClusterID(value)
	})
}

func newClient(t *testing.T) *rpc.Client {
	t.Helper()
	client, err := rpc.New(rpc.Options{User: "tester"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	return client
}

// refused is an address at which nobody listens.
func refused(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

func TestRemote(t *testing.T) {
	for _, old := range []bool{false, true} {
		cluster := hbasetest.Start(t, hbasetest.Options{Old: old})
		config := cluster.Registry()
		master := config.Servers[0]
		config.Servers = []string{refused(t), master}
		r, err := registry.Open(config, newClient(t))
		if err != nil {
			t.Fatal(err)
		}
		if s, err := r.MetaServer(t.Context()); err != nil || s.Address != cluster.Address(0) || s.StartCode != 1700000000000 {
			t.Errorf("HBase 1 %v: MetaServer: %+v, %v", old, s, err)
		}
		if s, err := r.Master(t.Context()); err != nil || s.Address != master {
			t.Errorf("HBase 1 %v: Master: %+v, %v", old, s, err)
		}
		if id, err := r.ClusterID(t.Context()); err != nil || id != "fake" {
			t.Errorf("HBase 1 %v: ClusterID: %q, %v", old, id, err)
		}
	}
}

func TestNobodyAnswers(t *testing.T) {
	one, two := refused(t), refused(t)
	tests := map[string]struct {
		config registry.Config
		want   []string
	}{
		"RPC":       {registry.Config{Kind: registry.RPC, Servers: []string{one, two}}, []string{one, two, "refused", "hbase.client.bootstrap.servers"}},
		"ZooKeeper": {registry.Config{Quorum: []string{one, two}}, []string{one, two, "refused", "hbase.zookeeper.quorum"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			r, err := registry.Open(tt.config, newClient(t))
			if err != nil {
				t.Fatal(err)
			}
			_, err = r.MetaServer(t.Context())
			for _, want := range tt.want {
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("MetaServer: %v, want an error with %q", err, want)
				}
			}
		})
	}
}

// TestZooKeeperIsSilent has a server that accepts connections and says nothing.
func TestZooKeeperIsSilent(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	r, err := registry.Open(registry.Config{Quorum: []string{l.Addr().String()}, Timeout: 50 * time.Millisecond}, nil)
	if err != nil {
		t.Fatal(err)
	}
	_, err = r.Master(t.Context())
	if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), l.Addr().String()) {
		t.Errorf("Master: %v, want a deadline that passed at %s", err, l.Addr())
	}
}

func TestOpenRefuses(t *testing.T) {
	tests := map[string]struct {
		config registry.Config
		want   string
	}{
		"no quorum":  {registry.Config{}, "hbase.zookeeper.quorum"},
		"no servers": {registry.Config{Kind: registry.RPC}, "hbase.client.bootstrap.servers"},
		"parent":     {registry.Config{Quorum: []string{"h:1"}, Parent: "hbase"}, `zookeeper.znode.parent "hbase"`},
	}
	for name, tt := range tests {
		if _, err := registry.Open(tt.config, nil); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want an error with %q", name, err, tt.want)
		}
	}
}
