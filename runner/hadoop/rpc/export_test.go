package rpc

// ParseResponse is a response's frame cut into call id, status, exception and message.
func ParseResponse(frame []byte) (callID int32, status uint64, class, text, message []byte, err error) {
	var h responseHeader
	body, err := parseResponse(frame, &h)
	if err == nil && h.status == statusSuccess {
		message, err = parseBody(body)
	}
	return h.callID, h.status, h.class, h.message, message, err
}

// ParseSASL is a SASL message read and encoded again.
func ParseSASL(b []byte) ([]byte, error) {
	m, err := parseSASL(b)
	return m.encode(), err
}

// MergeRouterStates is what is sent back after the states were seen.
func MergeRouterStates(states ...[]byte) []byte {
	var t stateTracker
	for _, s := range states {
		t.merge(s)
	}
	return t.routerState()
}
