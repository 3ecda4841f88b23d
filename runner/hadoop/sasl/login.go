package sasl

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/jcmturner/gokrb5/v8/iana/nametype"
	"github.com/jcmturner/gokrb5/v8/messages"
	"github.com/jcmturner/gokrb5/v8/types"
)

// A Login is a Kerberos identity that can get tickets for services. It may be used concurrently.
type Login interface {
	// Principal is the full name, such as alice@EXAMPLE.COM.
	Principal() string
	// Ticket returns a ticket for a service that is valid for some time still. The service is the full name of its
	// principal, such as nn/host.example.com@EXAMPLE.COM. Its errors are *LoginError.
	Ticket(ctx context.Context, service string) (Ticket, error)
	// Close forgets all tickets. They are asked for anew if the Login is used again.
	Close() error
}

// A Ticket lets its holder speak to one service.
type Ticket struct {
	Ticket messages.Ticket
	Key    types.EncryptionKey
	Client types.PrincipalName
	Realm  string // the client's
}

// A credential is a ticket and how long it is good for.
type credential struct {
	ticket          messages.Ticket
	key             types.EncryptionKey
	start, end      time.Time
	renewableBefore time.Time
}

// Tickets are replaced when a sixth of their life is left, or five minutes if that is less: early enough that another
// attempt can be made, late enough that the KDC is rarely asked.
const (
	freshFraction = 6
	freshMost     = 5 * time.Minute
)

// fresh says whether the credential need not be replaced yet.
func (c credential) fresh(now time.Time) bool {
	return c.end.Sub(now) > min(c.end.Sub(c.start)/freshFraction, freshMost)
}

func (c credential) valid(now time.Time) bool { return now.Before(c.end) }

// A kdc gives tickets to who has a ticket-granting ticket of a realm, or renews one.
type kdc interface {
	exchange(name types.PrincipalName, realm string, granting credential, renewal bool) (credential, error)
}

// A login asks the KDC. Its ticket-granting ticket comes from a keytab or from a file.
type login struct {
	name    types.PrincipalName
	realm   string
	granted func() (credential, error) // a new ticket-granting ticket
	kdc     kdc
	now     func() time.Time

	mu       sync.Mutex // held while the KDC is asked, so that it is asked once
	granting credential
	services map[string]credential
}

// Principal returns the full name.
func (l *login) Principal() string { return l.name.PrincipalNameString() + "@" + l.realm }

// Close forgets all tickets.
func (l *login) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.granting, l.services = credential{}, map[string]credential{}
	return nil
}

// Ticket returns the service's ticket, asking the KDC if there is none or it ends soon. What the KDC answers after ctx
// ended is kept for the next time.
func (l *login) Ticket(ctx context.Context, service string) (Ticket, error) {
	type outcome struct {
		credential credential
		err        error
	}
	done := make(chan outcome, 1)
	go func() {
		c, err := l.service(service)
		done <- outcome{c, err}
	}()
	select {
	case o := <-done:
		if o.err != nil {
			return Ticket{}, &LoginError{Principal: l.Principal(), Service: service, Err: explain(o.err)}
		}
		return Ticket{Ticket: o.credential.ticket, Key: o.credential.key, Client: l.name, Realm: l.realm}, nil
	case <-ctx.Done():
		return Ticket{}, &LoginError{Principal: l.Principal(), Service: service, Err: context.Cause(ctx)}
	}
}

// service returns a good ticket for a service. One that ends soon is better than none.
func (l *login) service(service string) (credential, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	held, ok := l.services[service]
	if ok && held.fresh(l.now()) {
		return held, nil
	}
	c, err := l.ask(service)
	if err != nil {
		if ok && held.valid(l.now()) {
			return held, nil
		}
		return credential{}, err
	}
	l.services[service] = c
	return c, nil
}

// ask gets a service's ticket from the KDC of its realm.
func (l *login) ask(service string) (credential, error) {
	name, realm, ok := strings.Cut(service, "@")
	if !ok {
		realm = l.realm
	}
	if !l.granting.fresh(l.now()) {
		if err := l.renew(); err != nil {
			return credential{}, err
		}
	}
	granting := l.granting
	if realm != l.realm {
		var err error
		if granting, err = l.kdc.exchange(grantingName(realm), l.realm, granting, false); err != nil {
			return credential{}, fmt.Errorf("cross from realm %s to %s: %w", l.realm, realm, err)
		}
	}
	spn := types.NewPrincipalName(nametype.KRB_NT_SRV_INST, name)
	c, err := l.kdc.exchange(spn, realm, granting, false)
	if err != nil {
		return credential{}, err
	}
	if got := c.ticket.SName.PrincipalNameString() + "@" + c.ticket.Realm; got != name+"@"+realm {
		return credential{}, fmt.Errorf("the KDC gave a ticket for %s instead", got)
	}
	return c, nil
}

// renew replaces the ticket-granting ticket: from its source, else from the KDC as long as that renews it.
func (l *login) renew() error {
	now := l.now()
	c, err := l.granted()
	if err == nil && c.fresh(now) {
		l.granting = c
		return nil
	}
	held := l.granting
	if err == nil && c.end.After(held.end) {
		held = c
	}
	if !held.valid(now) {
		if err == nil {
			err = fmt.Errorf("%w on %s", errExpired, c.end.UTC().Format(time.RFC3339))
		}
		return err
	}
	if now.Before(held.renewableBefore) {
		if renewed, err := l.kdc.exchange(grantingName(l.realm), l.realm, held, true); err == nil {
			held = renewed
		}
	}
	l.granting = held // it still lives, so the next time may be luckier
	return nil
}

func grantingName(realm string) types.PrincipalName {
	return types.PrincipalName{NameType: nametype.KRB_NT_SRV_INST, NameString: []string{"krbtgt", realm}}
}

func fromReply(t messages.Ticket, part messages.EncKDCRepPart) credential {
	c := credential{ticket: t, key: part.Key, start: part.StartTime, end: part.EndTime, renewableBefore: part.RenewTill}
	if c.start.IsZero() {
		c.start = part.AuthTime
	}
	return c
}
