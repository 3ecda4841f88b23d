package rpc_test

import (
	"bytes"
	"context"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/hadoop-bench/operator/runner/hadoop/rpc"
	"github.com/hadoop-bench/operator/runner/hadoop/sasl"
	"github.com/hadoop-bench/operator/runner/hadoop/wire"
)

// A realm is a real KDC and one of its NameNodes, as hack/hadoop/kerberos.sh starts them.
type realm struct {
	krb5, keytab string
	nameNode     string
	protection   string // the NameNode's hadoop.rpc.protection
}

const alice = "alice@HB.TEST"

// eachRealm runs a test against every NameNode of the realm.
func eachRealm(t *testing.T, test func(t *testing.T, r realm)) {
	t.Helper()
	dir := os.Getenv("HADOOPBENCH_TEST_KERBEROS")
	if dir == "" {
		t.Skip("HADOOPBENCH_TEST_KERBEROS names no directory of a Kerberos realm")
	}
	for pair := range strings.SplitSeq(os.Getenv("HADOOPBENCH_TEST_KERBEROS_NN"), ",") {
		word, address, _ := strings.Cut(pair, "=")
		t.Run(word, func(t *testing.T) {
			test(t, realm{
				krb5: filepath.Join(dir, "krb5.conf"), keytab: filepath.Join(dir, "keytabs", "alice.keytab"),
				nameNode: address, protection: word,
			})
		})
	}
}

func (r realm) login(t *testing.T) sasl.Login {
	t.Helper()
	l, err := sasl.FromKeytab(alice, r.keytab, r.krb5)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l
}

func principal(host string) (string, error) { return "nn/" + host + "@HB.TEST", nil }

// call asks the real NameNode for a file that is not there.
func (r realm) call(t *testing.T, o rpc.Options, path string) error {
	t.Helper()
	if o.ServerPrincipal == nil {
		o.ServerPrincipal = principal
	}
	c := newClient(t, o)
	return c.Do(deadline(t), &rpc.Call{
		Address: r.nameNode, Protocol: clientProtocol, Method: "getFileInfo", ID: c.NewCallID(),
		Request: request(path), Response: &wire.GetFileInfoResponseProto{},
	})
}

// A tap keeps all bytes of connections.
type tap struct {
	mu             sync.Mutex
	sent, received bytes.Buffer
}

func (t *tap) dial(ctx context.Context, network, address string) (net.Conn, error) {
	nc, err := new(net.Dialer).DialContext(ctx, network, address)
	return &tapped{nc, t}, err
}

type tapped struct {
	net.Conn
	tap *tap
}

func (c *tapped) Write(b []byte) (int, error) {
	c.tap.mu.Lock()
	c.tap.sent.Write(b)
	c.tap.mu.Unlock()
	return c.Conn.Write(b)
}

func (c *tapped) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	c.tap.mu.Lock()
	c.tap.received.Write(b[:n])
	c.tap.mu.Unlock()
	return n, err
}

// has says whether bytes went by in either direction.
func (t *tap) has(s string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return bytes.Contains(t.sent.Bytes(), []byte(s)) || bytes.Contains(t.received.Bytes(), []byte(s))
}

func TestKerberosNameNode(t *testing.T) {
	eachRealm(t, func(t *testing.T, r realm) {
		var wiretap tap
		// A relative path is answered with an exception that repeats it, so that it travels both ways.
		path := "a-path-that-nobody-must-see"
		err := r.call(t, rpc.Options{Kerberos: r.login(t), Protection: []string{r.protection}, Dial: wiretap.dial}, path)
		var remote *rpc.RemoteError
		if !errors.As(err, &remote) || !strings.Contains(remote.Message, path) {
			t.Fatalf("got %v, want an exception that names the path", err)
		}
		if got, want := wiretap.has(path), r.protection != "privacy"; got != want {
			t.Errorf("the path is in the bytes on the wire: %v, want %v", got, want)
		}
	})
}

func TestKerberosManyCalls(t *testing.T) {
	eachRealm(t, func(t *testing.T, r realm) {
		c := newClient(t, rpc.Options{Kerberos: r.login(t), Protection: []string{r.protection}, ServerPrincipal: principal})
		var wait sync.WaitGroup
		for range 8 {
			wait.Go(func() {
				call := rpc.Call{
					Address: r.nameNode, Protocol: clientProtocol, Method: "getFileInfo",
					Request: request("/" + strings.Repeat("long/", 200)), Response: &wire.GetFileInfoResponseProto{},
				}
				for range 100 {
					call.ID = c.NewCallID()
					if err := c.Do(deadline(t), &call); err != nil {
						t.Error(err)
						return
					}
				}
			})
		}
		wait.Wait()
	})
}

func TestKerberosTicketCache(t *testing.T) {
	eachRealm(t, func(t *testing.T, r realm) {
		cache := filepath.Join(t.TempDir(), "cache")
		cmd := exec.CommandContext(deadline(t), "kinit", "-c", cache, "-k", "-t", r.keytab, alice)
		cmd.Env = append(os.Environ(), "KRB5_CONFIG="+r.krb5)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("kinit: %v: %s", err, out)
		}
		l, err := sasl.FromCache("FILE:"+cache, r.krb5)
		if err != nil {
			t.Fatal(err)
		}
		if l.Principal() != alice {
			t.Errorf("got principal %s", l.Principal())
		}
		if err := r.call(t, rpc.Options{Kerberos: l, Protection: []string{r.protection}}, "/"); err != nil {
			t.Error(err)
		}
	})
}

func TestKerberosRefusals(t *testing.T) {
	words := []string{"privacy", "integrity", "authentication"}
	eachRealm(t, func(t *testing.T, r realm) {
		other := words[(slices.Index(words, r.protection)+1)%len(words)]
		for name, tc := range map[string]struct {
			options rpc.Options
			want    string
		}{
			"SIMPLE": {rpc.Options{}, "SIMPLE authentication is not enabled"},
			"another NameNode is expected": {
				rpc.Options{Kerberos: r.login(t), Protection: words, ServerPrincipal: func(string) (string, error) { return "hdfs/localhost@HB.TEST", nil }},
				"but dfs.namenode.kerberos.principal says hdfs/localhost@HB.TEST",
			},
			"a realm without KDC": {
				rpc.Options{Kerberos: r.login(t), Protection: words, ServerPrincipal: func(h string) (string, error) { return "nn/" + h + "@OTHER.TEST", nil }},
				"OTHER.TEST",
			},
			"another protection": {
				rpc.Options{Kerberos: r.login(t), Protection: []string{other}},
				"hadoop.rpc.protection is " + other + " here, but the server offers only " + r.protection,
			},
		} {
			t.Run(name, func(t *testing.T) {
				err := r.call(t, tc.options, "/")
				var refused *rpc.ConnectError
				if !errors.As(err, &refused) || !strings.Contains(err.Error(), tc.want) {
					t.Errorf("got %v, want %q", err, tc.want)
				}
			})
		}
	})
}
