package sasl_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jcmturner/gokrb5/v8/keytab"

	"github.com/hadoop-bench/operator/runner/hadoop/rpctest"
	"github.com/hadoop-bench/operator/runner/hadoop/sasl"
)

const krb5Conf = `[libdefaults]
 default_realm = A.TEST
 dns_lookup_kdc = false
[realms]
 A.TEST = {
  kdc = 127.0.0.1:1
 }
`

// write makes files in a directory of the test.
func write(t *testing.T, name string, content []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func writeKeytab(t *testing.T) string {
	t.Helper()
	kt := keytab.New()
	if err := kt.AddEntry("alice", "A.TEST", "password", time.Unix(1, 0), 1, 18); err != nil {
		t.Fatal(err)
	}
	b, err := kt.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	return write(t, "alice.keytab", b)
}

func TestFromKeytab(t *testing.T) {
	conf, kt := write(t, "krb5.conf", []byte(krb5Conf)), writeKeytab(t)
	damaged := write(t, "damaged", []byte{5, 2, 0, 0, 0, 90, 1})
	included := write(t, "krb5.conf", []byte(strings.Replace(krb5Conf, "[realms]", "[realms]\nB.TEST = {\n  v4_name_convert = {\n  }\n}", 1)))
	tests := map[string]struct {
		principal, keytab, conf string
		want                    string // the principal, or what the error says
	}{
		"whole name":        {"alice@A.TEST", kt, conf, "alice@A.TEST"},
		"default realm":     {"alice", kt, conf, "alice@A.TEST"},
		"old directives":    {"alice", kt, included, "alice@A.TEST"},
		"another principal": {"bob@A.TEST", kt, conf, "it has no key of bob@A.TEST, only of alice@A.TEST"},
		"another realm":     {"alice@B.TEST", kt, conf, "it has no key of alice@B.TEST, only of alice@A.TEST"},
		"no keytab":         {"alice", "/nowhere", conf, "read the keytab /nowhere"},
		"damaged keytab":    {"alice", damaged, conf, "read the keytab"},
		"no krb5.conf":      {"alice", kt, "/nowhere", "read krb5.conf"},
		"no realm":          {"alice", kt, write(t, "empty", nil), `principal "alice": it must have the form name@REALM`},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			l, err := sasl.FromKeytab(tc.principal, tc.keytab, tc.conf)
			switch {
			case err != nil && !strings.Contains(err.Error(), tc.want):
				t.Errorf("got %v, want %q", err, tc.want)
			case err == nil && l.Principal() != tc.want:
				t.Errorf("got %s, want %q", l.Principal(), tc.want)
			}
		})
	}
}

func TestFromCacheRefuses(t *testing.T) {
	conf := write(t, "krb5.conf", []byte(krb5Conf))
	tests := map[string]struct{ cache, want string }{
		"no file":      {"/nowhere", "read the ticket cache /nowhere"},
		"no FILE":      {"FILE:/nowhere", "read the ticket cache /nowhere"},
		"another kind": {"KEYRING:persistent:0", "only files (FILE:) are supported, set KRB5CCNAME to one and run kinit"},
		"damaged":      {write(t, "cache", []byte{5, 4, 0}), "the file is damaged or of another kind"},
		"no cache":     {write(t, "cache", []byte("password")), "read the ticket cache"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if _, err := sasl.FromCache(tc.cache, conf); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want %q", err, tc.want)
			}
		})
	}
}

func TestNoKDC(t *testing.T) {
	l, err := sasl.FromKeytab("alice", writeKeytab(t), write(t, "krb5.conf", []byte(krb5Conf)))
	if err != nil {
		t.Fatal(err)
	}
	_, err = l.Ticket(t.Context(), "nn/b@A.TEST")
	var failed *sasl.LoginError
	if !errors.As(err, &failed) || failed.Principal != "alice@A.TEST" || failed.Service != "nn/b@A.TEST" {
		t.Errorf("got %v", err)
	}
}

func TestTicketsAreReplacedBeforeTheyEnd(t *testing.T) {
	t0 := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	hour := func(from, renewable time.Duration) sasl.Life {
		return sasl.Life{Start: t0.Add(from), End: t0.Add(from + time.Hour), Renewable: t0.Add(renewable)}
	}
	const service, granting = "nn/b@A.TEST", "renew:krbtgt/A.TEST@A.TEST"
	tests := map[string]struct {
		service string
		granted []sasl.Life     // one after another, then none
		at      []time.Duration // when the ticket is asked for
		deaf    time.Duration   // from then on the KDC does not answer
		asked   []string
		want    string // the last error
	}{
		"kept while fresh": {
			service: service, granted: []sasl.Life{hour(0, 0)}, at: []time.Duration{0, 54 * time.Minute}, asked: []string{service},
		},
		"asked for anew by keytab": {
			service: service, granted: []sasl.Life{hour(0, 0), hour(56*time.Minute, 0)}, at: []time.Duration{0, 56 * time.Minute},
			asked: []string{service, service},
		},
		"renewed where the source has the old one": {
			service: service, granted: []sasl.Life{hour(0, 24*time.Hour), hour(0, 24*time.Hour)}, at: []time.Duration{0, 56 * time.Minute},
			asked: []string{service, granting, service},
		},
		"used up where the KDC does not answer": {
			service: service, granted: []sasl.Life{hour(0, 24*time.Hour), hour(0, 24*time.Hour)}, at: []time.Duration{0, 56 * time.Minute},
			deaf: 50 * time.Minute, asked: []string{service, granting, service},
		},
		"expired": {
			service: service, granted: []sasl.Life{hour(0, 0), hour(0, 0)}, at: []time.Duration{0, 2 * time.Hour}, asked: []string{service},
			want: "get a ticket for nn/b@A.TEST as alice@A.TEST: the ticket-granting ticket has expired: run kinit on 2026-01-01T01:00:00Z",
		},
		"of another realm": {
			service: "nn/b@B.TEST", granted: []sasl.Life{hour(0, 0)}, at: []time.Duration{0}, asked: []string{"krbtgt/B.TEST@A.TEST", "nn/b@B.TEST"},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			f := &sasl.FakeKDC{}
			var asked []string
			f.Granted = inTurn(tc.granted)
			f.Given = func(name string) (sasl.Life, error) {
				asked = append(asked, name)
				if tc.deaf > 0 && f.Now.After(t0.Add(tc.deaf)) {
					return sasl.Life{}, errors.New("no answer")
				}
				return sasl.Life{Start: f.Now, End: f.Now.Add(time.Hour)}, nil
			}
			err := askAt(t, f, tc.service, t0, tc.at)
			if (err == nil) != (tc.want == "") || (err != nil && err.Error() != tc.want) {
				t.Errorf("got %v, want %q", err, tc.want)
			}
			if diff := cmp.Diff(tc.asked, asked); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// inTurn gives the tickets one after another.
func inTurn(lives []sasl.Life) func() (sasl.Life, error) {
	return func() (sasl.Life, error) {
		if len(lives) == 0 {
			return sasl.Life{}, errors.New("no ticket")
		}
		life := lives[0]
		lives = lives[1:]
		return life, nil
	}
}

// askAt asks one login for a ticket at each of the times after t0 and returns the last error.
func askAt(t *testing.T, f *sasl.FakeKDC, service string, t0 time.Time, times []time.Duration) (err error) {
	t.Helper()
	l := f.Login()
	for _, at := range times {
		f.Now = t0.Add(at)
		_, err = l.Ticket(t.Context(), service)
	}
	return err
}

func TestTicketEndsWithItsContext(t *testing.T) {
	release := make(chan struct{})
	f := &sasl.FakeKDC{Granted: func() (sasl.Life, error) { <-release; return sasl.Life{}, errors.New("no answer") }}
	cause := errors.New("the run was stopped")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(cause)
	if _, err := f.Login().Ticket(ctx, "nn/b"); !errors.Is(err, cause) {
		t.Errorf("got %v", err)
	}
	close(release)
}

func TestRemedies(t *testing.T) {
	tests := map[string]string{
		"KRB Error: (37) KRB_AP_ERR_SKEW Clock skew too great": "the clocks differ too much: set this machine's and the KDC's by NTP (",
		"(7) KDC_ERR_S_PRINCIPAL_UNKNOWN":                      "the realm does not know the service: check dfs.namenode.kerberos.principal, or hbase.*.kerberos.principal (",
		"no KDCs defined in configuration for realm B.TEST":    "krb5.conf names no KDC of the realm: check the principal's realm and krb5.conf (",
		"something else": "something else",
	}
	for text, want := range tests {
		if got := sasl.Explain(errors.New(text)).Error(); !strings.HasPrefix(got, want) || !strings.Contains(got, text) {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func FuzzReply(f *testing.F) {
	a, err := rpctest.NewAcceptor("nn/b", "A.TEST", 18)
	if err != nil {
		f.Fatal(err)
	}
	ticket, err := a.Login("alice").Ticket(f.Context(), "nn/b@A.TEST")
	if err != nil {
		f.Fatal(err)
	}
	f.Add([]byte("\x60\x0d\x06\x09\x2a\x86\x48\x86\xf7\x12\x01\x02\x02\x02\x00"))
	f.Add([]byte("\x60\x81\x0d\x06\x09\x2a\x86\x48\x86\xf7\x12\x01\x02\x02\x03\x00"))
	f.Fuzz(func(t *testing.T, token []byte) {
		if err := sasl.Reply(ticket, token); err == nil {
			t.Error("a proof without the key was taken")
		}
		message, again, err := sasl.Unframe(token)
		if err != nil {
			return
		}
		if inner, _, err := sasl.Unframe(again); err != nil || !bytes.Equal(inner, message) {
			t.Errorf("%x became %x (%v)", message, inner, err)
		}
	})
}
