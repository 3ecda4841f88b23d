package rpc

import "fmt"

// appendSealed appends the frame of a SASL message that holds a sealed part of the stream.
func appendSealed(b, token []byte) []byte {
	return append(b, saslFrame(saslMessage{state: saslWrap, token: token})...)
}

// sealedToken takes the sealed part of the stream out of a frame.
func sealedToken(frame []byte) ([]byte, error) {
	var h responseHeader
	body, err := parseResponse(frame, &h)
	if err != nil {
		return nil, err
	}
	if h.status != statusSuccess {
		return nil, fmt.Errorf("the server refused the connection: %w", h.remote())
	}
	m, err := saslBody(&h, body)
	if err != nil {
		return nil, fmt.Errorf("read a sealed response: %w", err)
	}
	if m.state != saslWrap {
		return nil, fmt.Errorf("read a sealed response: the server's %v does not belong here", m.state)
	}
	return m.token, nil
}
