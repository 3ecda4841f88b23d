package sasl

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// A LoginError says that a principal got no ticket for a service.
type LoginError struct {
	Principal, Service string
	Err                error
}

// Error names both and the cause.
func (e *LoginError) Error() string {
	return fmt.Sprintf("get a ticket for %s as %s: %v", e.Service, e.Principal, e.Err)
}

// Unwrap returns the cause.
func (e *LoginError) Unwrap() error { return e.Err }

// A ProtectionError says that client and server agree on no protection.
type ProtectionError struct {
	Key             string // of the client's configuration; empty: hadoop.rpc.protection
	Wanted, Offered []Protection
}

// Error names the key and both sides' words.
func (e *ProtectionError) Error() string {
	return fmt.Sprintf("%s is %s here, but the server offers only %s", cmp.Or(e.Key, "hadoop.rpc.protection"), words(e.Wanted), words(e.Offered))
}

func words(all []Protection) string {
	var s []string
	for _, p := range all {
		s = append(s, string(p))
	}
	if len(s) == 0 {
		return "nothing known"
	}
	return strings.Join(slices.Compact(s), ",")
}

var (
	errExpired  = errors.New("the ticket-granting ticket has expired: run kinit")
	errNoTicket = errors.New("there is no ticket-granting ticket (run kinit)")
)

// remedies tell what to do about what KDCs and gokrb5 say. gokrb5 keeps of most errors only their text.
var remedies = []struct{ text, remedy string }{
	{"KRB_AP_ERR_SKEW", "the clocks differ too much: set this machine's and the KDC's by NTP"},
	{"clock skew", "the clocks differ too much: set this machine's and the KDC's by NTP"},
	{"KDC_ERR_C_PRINCIPAL_UNKNOWN", "the realm does not know the client: check the principal and its realm"},
	{"KDC_ERR_S_PRINCIPAL_UNKNOWN", "the realm does not know the service: check dfs.namenode.kerberos.principal, or hbase.*.kerberos.principal"},
	{"KDC_ERR_WRONG_REALM", "the principal is of another realm: check the principal and its realm"},
	{"no KDCs defined", "krb5.conf names no KDC of the realm: check the principal's realm and krb5.conf"},
	{"no KDC SRV records", "DNS names no KDC of the realm: check the principal's realm and krb5.conf"},
	{"KDC_ERR_PREAUTH_FAILED", "the key is not the principal's present one: make a new keytab"},
	{"client password/keytab incorrect", "the key is not the principal's present one: make a new keytab"},
	{"KRB_AP_ERR_TKT_EXPIRED", "the ticket has expired: run kinit"},
	{"KDC_ERR_KEY_EXPIRED", "the principal's key has expired"},
	{"KDC_ERR_CLIENT_REVOKED", "the principal is locked"},
	{"KDC_ERR_ETYPE_NOSUPP", "the KDC has no encryption type in common with us: see default_tgs_enctypes in krb5.conf"},
}

// explain puts the remedy before an error that has one.
func explain(err error) error {
	for _, r := range remedies {
		if strings.Contains(err.Error(), r.text) {
			return fmt.Errorf("%s (%w)", r.remedy, err)
		}
	}
	return err
}
