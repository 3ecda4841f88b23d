package sasl

import (
	"time"

	"github.com/jcmturner/gokrb5/v8/iana/nametype"
	"github.com/jcmturner/gokrb5/v8/messages"
	"github.com/jcmturner/gokrb5/v8/types"
)

// Unframe takes the mechanism's framing off a token, and puts it on again.
func Unframe(token []byte) (message, again []byte, err error) {
	id, message, err := unframeToken(token)
	return message, frameToken(id, message), err
}

// Reply reads the server's proof for a request made with the ticket.
func Reply(t Ticket, token []byte) error {
	r, err := newRequest(t)
	if err != nil {
		return err
	}
	_, err = r.parseReply(token, t.Key)
	return err
}

// Explain puts the remedy before an error.
func Explain(err error) error { return explain(err) }

// A Life is how long a ticket lives.
type Life struct{ Start, End, Renewable time.Time }

// A FakeKDC gives tickets whose names are what was asked for.
type FakeKDC struct {
	Now     time.Time
	Granted func() (Life, error)             // of the keytab or the cache
	Given   func(asked string) (Life, error) // asked is service@realm, and renew:service@realm
}

// Login is alice@A.TEST.
func (f *FakeKDC) Login() Login {
	return &login{
		name: types.NewPrincipalName(nametype.KRB_NT_PRINCIPAL, "alice"), realm: "A.TEST", kdc: f, now: func() time.Time { return f.Now },
		services: map[string]credential{},
		granted: func() (credential, error) {
			life, err := f.Granted()
			return credential{start: life.Start, end: life.End, renewableBefore: life.Renewable}, err
		},
	}
}

func (f *FakeKDC) exchange(name types.PrincipalName, realm string, _ credential, renewal bool) (credential, error) {
	asked := name.PrincipalNameString() + "@" + realm
	if renewal {
		asked = "renew:" + asked
	}
	life, err := f.Given(asked)
	return credential{
		ticket: messages.Ticket{SName: name, Realm: realm}, start: life.Start, end: life.End, renewableBefore: life.Renewable,
	}, err
}
