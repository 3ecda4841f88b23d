// Package sasl is the client's side of Hadoop's Kerberos authentication: the SASL mechanism GSSAPI (RFC 4752) with its
// three protections, spoken with the tokens of the Kerberos V5 GSS mechanism (RFC 4121).
//
// A [Login] is who we are: it holds tickets and renews them before they end. A [Context] is one conversation with one
// server: its tokens travel inside whatever protocol uses it, and once it is established it wraps and unwraps that
// protocol's bytes.
package sasl
