package rpc_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/hadoop-bench/operator/runner/hadoop/rpc"
	"github.com/hadoop-bench/operator/runner/hadoop/rpctest"
	"github.com/hadoop-bench/operator/runner/hadoop/sasl"
)

const (
	testRealm  = "A.TEST"
	aes256SHA1 = 18
)

func newAcceptor(t *testing.T, encType int32, protections ...sasl.Protection) *rpctest.Acceptor {
	t.Helper()
	a, err := rpctest.NewAcceptor("nn/127.0.0.1", testRealm, encType, protections...)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func testPrincipal(host string) (string, error) { return "nn/" + host + "@" + testRealm, nil }

func TestKerberosProtections(t *testing.T) {
	for _, encType := range []int32{17, 18, 19} { // gokrb5 makes no usable tickets of type 20
		for _, word := range []sasl.Protection{sasl.Authentication, sasl.Integrity, sasl.Privacy} {
			for _, subkey := range []bool{false, true} {
				t.Run(fmt.Sprintf("%d/%s/subkey=%v", encType, word, subkey), func(t *testing.T) {
					a := newAcceptor(t, encType, sasl.Authentication, sasl.Integrity, sasl.Privacy)
					a.Subkey, a.Buffer = subkey, 1000
					checkProtection(t, a, word)
				})
			}
		}
	}
}

// checkProtection makes calls, among them one that does not fit into a token, and looks for their paths on the wire.
func checkProtection(t *testing.T, a *rpctest.Acceptor, word sasl.Protection) {
	t.Helper()
	users := make(chan string, 10)
	s := rpctest.Start(t, rpctest.Options{Handler: echo, Kerberos: a, Observe: func(r rpctest.Request) { users <- r.User }})
	var wiretap tap
	c := newClient(t, rpc.Options{
		Kerberos: a.Login("alice"), Protection: []string{string(word)}, ServerPrincipal: testPrincipal, Dial: wiretap.dial,
	})
	secret := "/a-path-that-nobody-must-see"
	mustGet(t, c, s, secret)
	mustGet(t, c, s, strings.Repeat("/long", 1000))
	if user := <-users; user != "alice@A.TEST" {
		t.Errorf("the server saw the user %s", user)
	}
	if got, want := wiretap.has(secret), word != sasl.Privacy; got != want {
		t.Errorf("the path is in the bytes on the wire: %v, want %v", got, want)
	}
}

func TestKerberosHandshakeFailures(t *testing.T) {
	a := newAcceptor(t, aes256SHA1, sasl.Authentication)
	kerberos := rpc.Options{Kerberos: a.Login("alice"), ServerPrincipal: testPrincipal}
	with := func(f func(*rpc.Options)) rpc.Options { o := kerberos; f(&o); return o }
	tests := map[string]struct {
		server  rpctest.Options
		options rpc.Options
		want    string
	}{
		"the server does not ask": {
			rpctest.Options{Handler: echo},
			kerberos,
			"the server does not ask for authentication, so anybody could be that server: if it shall be trusted all the same, set ipc.client.fallback-to-simple-auth-allowed",
		},
		"the server offers SIMPLE": {
			rpctest.Options{Handler: echo, Faults: rpctest.Faults{Offers: []string{"SIMPLE"}}},
			kerberos,
			"the server offers no Kerberos, only SIMPLE, so anybody could be that server",
		},
		"the server offers tokens": {
			rpctest.Options{Handler: echo, Faults: rpctest.Faults{Offers: []string{"TOKEN/DIGEST-MD5"}}},
			with(func(o *rpc.Options) { o.AllowSimpleFallback = true }),
			"authenticate as alice@A.TEST: the server offers no Kerberos, only TOKEN/DIGEST-MD5",
		},
		"another protection": {
			rpctest.Options{Handler: echo, Kerberos: a},
			with(func(o *rpc.Options) { o.Protection = []string{"privacy", "integrity"} }),
			"hadoop.rpc.protection is privacy,integrity here, but the server offers only authentication",
		},
		"another server": {
			rpctest.Options{Handler: echo, Kerberos: a},
			with(func(o *rpc.Options) { o.ServerPrincipal = func(string) (string, error) { return "nn/b@A.TEST", nil } }),
			"the server says it is nn/127.0.0.1, but dfs.namenode.kerberos.principal says nn/b@A.TEST",
		},
		"no ticket": {
			rpctest.Options{Handler: echo, Kerberos: a},
			with(func(o *rpc.Options) {
				o.ServerPrincipal = func(string) (string, error) { return "nn/127.0.0.1@B.TEST", nil }
			}),
			"get a ticket for nn/127.0.0.1@B.TEST as alice@A.TEST: no such service",
		},
		"the server's key is another": {
			rpctest.Options{Handler: echo, Kerberos: newAcceptor(t, 17, sasl.Authentication)},
			kerberos,
			"SaslException",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := rpctest.Start(t, tc.server)
			err := get(t, newClient(t, tc.options), s, "/")
			var none *rpc.ConnectError
			if !errors.As(err, &none) || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want %q", err, tc.want)
			}
		})
	}
}

func TestSimpleClientIsRefusedByKerberos(t *testing.T) {
	s := rpctest.Start(t, rpctest.Options{Handler: echo, Kerberos: newAcceptor(t, aes256SHA1, sasl.Authentication)})
	err := get(t, newClient(t, rpc.Options{}), s, "/")
	var none *rpc.ConnectError
	if !errors.As(err, &none) || !rpc.Is(err, "AccessControlException") || !strings.Contains(err.Error(), "SIMPLE authentication is not enabled.  Available:[KERBEROS]") {
		t.Errorf("got %v", err)
	}
}

func TestKerberosFallsBackWhereAllowed(t *testing.T) {
	a := newAcceptor(t, aes256SHA1)
	for name, offers := range map[string][]string{"the server does not ask": nil, "the server offers SIMPLE": {"TOKEN/DIGEST-MD5", "SIMPLE"}} {
		t.Run(name, func(t *testing.T) {
			s := rpctest.Start(t, rpctest.Options{Handler: echo, Faults: rpctest.Faults{Offers: offers}})
			c := newClient(t, rpc.Options{Kerberos: a.Login("alice"), ServerPrincipal: testPrincipal, AllowSimpleFallback: true})
			mustGet(t, c, s, "/")
		})
	}
}

func TestKerberosIsPreferredToSimple(t *testing.T) {
	a := newAcceptor(t, aes256SHA1, sasl.Privacy)
	s := rpctest.Start(t, rpctest.Options{Handler: echo, Kerberos: a, Faults: rpctest.Faults{Offers: []string{"SIMPLE"}}})
	var wiretap tap
	c := newClient(t, rpc.Options{
		Kerberos: a.Login("alice"), ServerPrincipal: testPrincipal, AllowSimpleFallback: true, Protection: []string{"privacy"}, Dial: wiretap.dial,
	})
	mustGet(t, c, s, "/a-path-that-nobody-must-see")
	if wiretap.has("nobody-must-see") {
		t.Error("the call was not sealed")
	}
}
