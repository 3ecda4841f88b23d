package rpc

import (
	"io"

	"github.com/hadoop-bench/operator/runner/internal/transport"
)

// ParseResponse is a response's frame cut into call id, exception, message and cellblock.
func ParseResponse(frame []byte) (callID uint32, exception, body, cells []byte, err error) {
	var r response
	err = r.parse(frame)
	return r.callID, r.exception, r.body, r.cells, err
}

// SASLTurns are the turns of the server that a stream holds, up to one that is no token.
func SASLTurns(stream io.Reader) (tokens [][]byte, simple bool, err error) {
	c := &conn{frames: transport.NewFrameReader(stream, maxToken, "")}
	for {
		simple, token, err := c.saslTurn()
		if err != nil || simple {
			return tokens, simple, err
		}
		tokens = append(tokens, append([]byte{}, token...))
	}
}
