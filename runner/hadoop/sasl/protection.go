package sasl

// A Protection is a word of hadoop.rpc.protection: what happens to bytes once both sides know each other.
type Protection string

// The protections, and what SASL calls them.
const (
	Authentication Protection = "authentication" // auth: nothing
	Integrity      Protection = "integrity"      // auth-int: they cannot be changed unseen
	Privacy        Protection = "privacy"        // auth-conf: they cannot be read either
)

// Valid says whether it is one of the three words.
func (p Protection) Valid() bool { return p.layer() != 0 }

// layer is the protection's bit in RFC 4752's security layers.
func (p Protection) layer() byte {
	switch p {
	case Authentication:
		return 1
	case Integrity:
		return 2
	case Privacy:
		return 4
	}
	return 0
}

// inLayers are the protections whose bits are set.
func inLayers(bits byte) []Protection {
	var all []Protection
	for _, p := range []Protection{Authentication, Integrity, Privacy} {
		if bits&p.layer() != 0 {
			all = append(all, p)
		}
	}
	return all
}
