package sasl

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jcmturner/gokrb5/v8/client"
	"github.com/jcmturner/gokrb5/v8/config"
	"github.com/jcmturner/gokrb5/v8/credentials"
	"github.com/jcmturner/gokrb5/v8/iana/etypeID"
	"github.com/jcmturner/gokrb5/v8/keytab"
	"github.com/jcmturner/gokrb5/v8/messages"
	"github.com/jcmturner/gokrb5/v8/types"
)

// FromKeytab logs in as principal with the key that the file keytabFile holds. A principal without a realm is of the
// default realm of the file krb5Conf, which names the realm's KDCs too. Tickets are asked for when they are needed first,
// so nothing is sent here.
func FromKeytab(principal, keytabFile, krb5Conf string) (Login, error) {
	conf, err := loadConfig(krb5Conf)
	if err != nil {
		return nil, err
	}
	kt, err := loadKeytab(keytabFile)
	if err != nil {
		return nil, fmt.Errorf("read the keytab %s: %w", keytabFile, err)
	}
	name, realm, ok := strings.Cut(principal, "@")
	if !ok {
		realm = conf.LibDefaults.DefaultRealm
	}
	if name == "" || realm == "" {
		return nil, fmt.Errorf("principal %q: it must have the form name@REALM, as %s names no default realm", principal, krb5Conf)
	}
	if err := checkKeytab(kt, name, realm); err != nil {
		return nil, fmt.Errorf("keytab %s: %w", keytabFile, err)
	}
	krb := client.NewWithKeytab(name, realm, kt, conf, client.DisablePAFXFAST(true))
	return newLogin(krb, func() (credential, error) {
		request, err := messages.NewASReqForTGT(realm, conf, krb.Credentials.CName())
		if err != nil {
			return credential{}, fmt.Errorf("make a login request: %w", err)
		}
		reply, err := krb.ASExchange(realm, request, 0)
		if err != nil {
			return credential{}, err
		}
		return fromReply(reply.Ticket, reply.DecryptedEncPart), nil
	}), nil
}

// FromCache logs in with the ticket-granting ticket that the file ccache holds, as kinit leaves it there; the name may
// begin with FILE:. The file is read again when its ticket is about to end, since another process may have renewed it;
// else it is renewed here as long as the KDC permits.
func FromCache(ccache, krb5Conf string) (Login, error) {
	conf, err := loadConfig(krb5Conf)
	if err != nil {
		return nil, err
	}
	path, err := cachePath(ccache)
	if err != nil {
		return nil, err
	}
	cache, err := loadCache(path)
	if err != nil {
		return nil, fmt.Errorf("read the ticket cache %s: %w", path, err)
	}
	user, realm := cache.GetClientCredentials().UserName(), cache.GetClientRealm()
	// The keytab is empty: only the parts of the client that ask for further tickets are used.
	krb := client.NewWithKeytab(user, realm, keytab.New(), conf)
	return newLogin(krb, func() (credential, error) {
		cache, err := loadCache(path)
		if err != nil {
			return credential{}, fmt.Errorf("read the ticket cache %s: %w", path, err)
		}
		if now := cache.GetClientRealm(); now != realm || cache.GetClientCredentials().UserName() != user {
			return credential{}, fmt.Errorf("the ticket cache %s is another principal's now", path)
		}
		return cachedGranting(cache, path, realm)
	}), nil
}

func newLogin(krb *client.Client, granted func() (credential, error)) *login {
	return &login{
		name: krb.Credentials.CName(), realm: krb.Credentials.Domain(), granted: granted, kdc: network{krb}, now: time.Now,
		services: map[string]credential{},
	}
}

// network is the KDCs of krb5.conf.
type network struct{ krb *client.Client }

func (n network) exchange(name types.PrincipalName, realm string, granting credential, renewal bool) (credential, error) {
	_, reply, err := n.krb.TGSREQGenerateAndExchange(name, realm, granting.ticket, granting.key, renewal)
	if err != nil {
		return credential{}, err
	}
	return fromReply(reply.Ticket, reply.DecryptedEncPart), nil
}

// loadConfig reads krb5.conf. Directives that gokrb5 does not know are passed over, as other readers do.
func loadConfig(file string) (*config.Config, error) {
	conf, err := config.Load(file)
	if unsupported := (config.UnsupportedDirective{}); errors.As(err, &unsupported) {
		err = nil
	}
	if err != nil {
		return nil, fmt.Errorf("read krb5.conf: %w", err)
	}
	offerNewTypes(&conf.LibDefaults)
	return conf, nil
}

// offerNewTypes adds the encryption types of RFC 8009, which gokrb5 can do but does not offer of itself, behind the ones
// that it offers where krb5.conf says nothing.
func offerNewTypes(d *config.LibDefaults) {
	unset := config.New().LibDefaults
	for _, ids := range []struct{ here, unset *[]int32 }{
		{&d.DefaultTktEnctypeIDs, &unset.DefaultTktEnctypeIDs},
		{&d.DefaultTGSEnctypeIDs, &unset.DefaultTGSEnctypeIDs},
	} {
		if slices.Equal(*ids.here, *ids.unset) {
			*ids.here = append(*ids.here, etypeID.AES256_CTS_HMAC_SHA384_192, etypeID.AES128_CTS_HMAC_SHA256_128)
		}
	}
}

var errDamaged = errors.New("the file is damaged or of another kind")

// guard makes an error of a panic: gokrb5 reads broken files without looking at their length.
func guard(err *error) {
	if recover() != nil {
		*err = errDamaged
	}
}

func loadKeytab(file string) (kt *keytab.Keytab, err error) {
	defer guard(&err)
	return keytab.Load(file)
}

func loadCache(file string) (c *credentials.CCache, err error) {
	defer guard(&err)
	if c, err = credentials.LoadCCache(file); err == nil && c.GetClientRealm() == "" {
		err = errDamaged
	}
	return c, err
}

// checkKeytab says which principals a keytab has if it has not the one that is wanted.
func checkKeytab(kt *keytab.Keytab, name, realm string) error {
	var others []string
	for _, e := range kt.Entries {
		has := strings.Join(e.Principal.Components, "/") + "@" + e.Principal.Realm
		if has == name+"@"+realm {
			return nil
		}
		if len(others) == 0 || others[len(others)-1] != has {
			others = append(others, has)
		}
	}
	return fmt.Errorf("it has no key of %s@%s, only of %s", name, realm, strings.Join(others, ", "))
}

// cachePath is the file of a cache's name.
func cachePath(name string) (string, error) {
	kind, path, ok := strings.Cut(name, ":")
	switch {
	case !ok || strings.Contains(kind, "/"):
		return name, nil
	case kind == "FILE":
		return path, nil
	}
	return "", fmt.Errorf("ticket cache %s: only files (FILE:) are supported, set KRB5CCNAME to one and run kinit", name)
}

// cachedGranting is the cache's ticket-granting ticket that lives longest.
func cachedGranting(cache *credentials.CCache, path, realm string) (credential, error) {
	var best credential
	for _, e := range cache.GetEntries() {
		if e.Server.Realm != realm || !e.Server.PrincipalName.Equal(grantingName(realm)) || !e.EndTime.After(best.end) {
			continue
		}
		c := credential{key: e.Key, start: e.StartTime, end: e.EndTime, renewableBefore: e.RenewTill}
		if err := c.ticket.Unmarshal(e.Ticket); err != nil {
			return credential{}, fmt.Errorf("read a ticket in %s: %w", path, err)
		}
		if c.start.Unix() <= 0 {
			c.start = e.AuthTime
		}
		best = c
	}
	if best.end.IsZero() {
		return credential{}, fmt.Errorf("%w in the ticket cache %s for realm %s", errNoTicket, path, realm)
	}
	return best, nil
}
