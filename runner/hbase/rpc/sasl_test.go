package rpc_test

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/hadoop-bench/operator/runner/hadoop/rpctest"
	"github.com/hadoop-bench/operator/runner/hadoop/sasl"
	"github.com/hadoop-bench/operator/runner/hbase/rpc"
)

const (
	testRealm  = "A.TEST"
	aes256SHA1 = 18
)

// newAcceptor is a server's Kerberos identity.
func newAcceptor(t *testing.T, protections ...sasl.Protection) *rpctest.Acceptor {
	t.Helper()
	a, err := rpctest.NewAcceptor("hbase/127.0.0.1", testRealm, aes256SHA1, protections...)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func testPrincipal(_ rpc.Service, host string) (string, error) {
	return "hbase/" + host + "@" + testRealm, nil
}

func TestKerberosProtections(t *testing.T) {
	for _, word := range []sasl.Protection{sasl.Authentication, sasl.Integrity, sasl.Privacy} {
		for _, subkey := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/subkey=%v", word, subkey), func(t *testing.T) {
				a := newAcceptor(t, sasl.Authentication, sasl.Integrity, sasl.Privacy)
				a.Subkey, a.Buffer = subkey, 1000
				checkProtection(t, a, word)
			})
		}
	}
}

// checkProtection makes calls, among them one that does not fit into a token, and looks for their texts on the wire.
func checkProtection(t *testing.T, a *rpctest.Acceptor, word sasl.Protection) {
	t.Helper()
	var wiretap tap
	address := serve(t, accepting(a), echo)
	c := newClient(t, rpc.Options{
		Kerberos: a.Login("alice"), Protection: []string{string(word)}, ServerPrincipal: testPrincipal, Dial: wiretap.dial,
	})
	secret := "what nobody must see"
	call := newCall(address, secret)
	call.Cells = []byte("cells")
	mustDo(t, c, call)
	if string(call.Answer) != "cells" {
		t.Errorf("the answer's cells are %q", call.Answer)
	}
	mustDo(t, c, newCall(address, strings.Repeat("long ", 1000)))
	if got, want := who(t, c, *newCall(address, "")), "alice@A.TEST on connection 0 for ClientService"; got != want {
		t.Errorf("the server saw %s, want %s", got, want)
	}
	if !wiretap.has("HBas\x00\x51") {
		t.Error("the preamble does not say that tokens follow")
	}
	if got, want := wiretap.has(secret), word != sasl.Privacy; got != want {
		t.Errorf("the secret is in the bytes on the wire: %v, want %v", got, want)
	}
}

// answering sends bytes in place of the server's first turn. The connection goes on only if more shall come.
func answering(b string, more bool) func(*peer) error {
	return func(p *peer) error {
		if _, err := p.block(); err != nil {
			return err
		}
		p.write([]byte(b))
		if !more {
			return errTest
		}
		return nil
	}
}

func TestKerberosRefusals(t *testing.T) {
	a := newAcceptor(t, sasl.Authentication)
	kerberos := rpc.Options{Kerberos: a.Login("alice"), ServerPrincipal: testPrincipal}
	with := func(f func(*rpc.Options)) rpc.Options { o := kerberos; f(&o); return o }
	tests := map[string]struct {
		options rpc.Options
		want    string
	}{
		"another protection": {
			with(func(o *rpc.Options) { o.Protection = []string{"privacy", "integrity"} }),
			"hbase.rpc.protection is privacy,integrity here, but the server offers only authentication",
		},
		"no ticket": {
			with(func(o *rpc.Options) {
				o.ServerPrincipal = func(rpc.Service, string) (string, error) { return "hbase/elsewhere@A.TEST", nil }
			}),
			"get a ticket for hbase/elsewhere@A.TEST as alice@A.TEST: no such service",
		},
		"no principal": {
			with(func(o *rpc.Options) {
				o.ServerPrincipal = func(s rpc.Service, h string) (string, error) {
					return "", fmt.Errorf("no principal for %s at %s", s, h)
				}
			}),
			"no principal for ClientService at 127.0.0.1",
		},
		"the ticket of another key": {
			with(func(o *rpc.Options) { o.Kerberos = newAcceptor2(t).Login("alice") }),
			"SaslException: ",
		},
	}
	address := serve(t, accepting(a), echo)
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			err := newClient(t, tt.options).Do(deadline(t), newCall(address, ""))
			if outcome(err) != "not executed" || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

// newAcceptor2 has the same name as newAcceptor's, but another key.
func newAcceptor2(t *testing.T) *rpctest.Acceptor {
	t.Helper()
	a, err := rpctest.NewAcceptor("hbase/127.0.0.1", testRealm, 17, sasl.Authentication)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// TestKerberosAnswers: what servers that do not authenticate may answer to the first token.
func TestKerberosAnswers(t *testing.T) {
	refusal := "\x00\x00\x00\x01" + string(counted([]byte("org.apache.hadoop.security.AccessControlException"))) + string(counted([]byte("no entry")))
	tests := map[string]struct {
		answer   string
		fallback bool
		want     string // empty: the call is answered
	}{
		"simple, not allowed": {
			"\x00\x00\x00\x00\xff\xff\xff\xa8", false,
			"the server does not ask for authentication, so anybody could be that server: if it shall be trusted all the same, set hbase.ipc.client.fallback-to-simple-auth-allowed",
		},
		"simple, allowed":        {"\x00\x00\x00\x00\xff\xff\xff\xa8", true, ""},
		"an exception":           {refusal, false, "AccessControlException: no entry"},
		"half an exception":      {refusal[:20], false, "read why the server refused: unexpected EOF"},
		"no status":              {"\xff\xff\xff\xfe", false, "the server's answer begins with fffffffe, which is no status of SASL"},
		"a token without length": {"\x00\x00\x00\x00", false, "EOF"},
		"a token that is none":   {"\x00\x00\x00\x00\x00\x00\x00\x01x", false, "not a token of the Kerberos mechanism"},
		"a token without end":    {"\x00\x00\x00\x00\x7f\x00\x00\x01x", false, "the server's token has 2130706433 bytes, the limit is 1048576"},
		"a negative token":       {"\x00\x00\x00\x00\xff\xff\xff\xff", false, "the server sent a frame of -1 bytes"},
		"a text without end":     {"\x00\x00\x00\x01\x7f\x00\x00\x01x", false, "a text of 2130706433 bytes, the limit is 1048576"},
		// Servers refuse a preamble by a response's frame.
		"a fatal response": {
			"\x00\x00\x00\x0f\x0e\x08\xff\xff\xff\xff\x0f\x12\x06\x0a\x01A\x12\x01B", false, "A: B",
		},
		"a response": {"\x00\x00\x00\x04\x02\x08\x00\x00", false, "the server answered a call where a SASL message must come"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			address := serve(t, answering(tt.answer, tt.want == ""), echo)
			a := newAcceptor(t)
			c := newClient(t, rpc.Options{Kerberos: a.Login("alice"), ServerPrincipal: testPrincipal, AllowSimpleFallback: tt.fallback})
			call := newCall(address, "param")
			err := do(t, c, call)
			if tt.want == "" {
				if err != nil {
					t.Fatal(err)
				}
				if got := who(t, c, *call); !strings.HasPrefix(got, "alice@A.TEST") {
					t.Errorf("the server saw %s", got)
				}
				return
			}
			if outcome(err) != "not executed" || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
	t.Run("all are refusals of the connection", func(t *testing.T) {
		address := serve(t, answering(refusal, false), echo)
		a := newAcceptor(t)
		err := newClient(t, rpc.Options{Kerberos: a.Login("alice"), ServerPrincipal: testPrincipal}).Do(deadline(t), newCall(address, ""))
		if refused := new(rpc.RemoteError); !errors.As(err, &refused) || !rpc.Is(err, "AccessControlException") {
			t.Errorf("got %v", err)
		}
	})
}

func TestKerberosServerSaysNothing(t *testing.T) {
	address := serve(t, func(p *peer) error {
		_, _ = p.in.WriteTo(io.Discard) // until the client closes the connection
		return errTest
	}, echo)
	c := newClient(t, rpc.Options{Kerberos: newAcceptor(t).Login("alice"), ServerPrincipal: testPrincipal, DialTimeout: 50 * time.Millisecond})
	err := c.Do(deadline(t), newCall(address, ""))
	if outcome(err) != "not executed" || !strings.Contains(err.Error(), "no connection within 50ms") {
		t.Errorf("got %v", err)
	}
}
