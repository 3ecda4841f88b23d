package rpc

import (
	"fmt"
	"io"

	"github.com/hadoop-bench/operator/runner/hadoop/sasl"
)

// A sealedWriter sends a stream of frames inside SASL messages, each of them no larger than the server takes.
type sealedWriter struct {
	to   io.Writer
	seal *sasl.Context
}

// Write sends all of b with one system call.
func (w *sealedWriter) Write(b []byte) (int, error) {
	var out []byte
	for rest := b; len(rest) > 0; {
		n := min(len(rest), w.seal.MaxMessage())
		token, err := w.seal.Wrap(rest[:n])
		if err != nil {
			return 0, fmt.Errorf("seal a request: %w", err)
		}
		out, rest = append(out, saslFrame(saslMessage{state: saslWrap, token: token})...), rest[n:]
	}
	if _, err := w.to.Write(out); err != nil {
		return 0, err
	}
	return len(b), nil
}

// A sealedReader is the stream of frames inside the server's SASL messages.
type sealedReader struct {
	from *frameReader
	seal *sasl.Context
	left []byte // unsealed and not given out yet
}

// Read gives out what is left of a message, or the next one's beginning.
func (r *sealedReader) Read(p []byte) (int, error) {
	for len(r.left) == 0 {
		if err := r.fill(); err != nil {
			return 0, err
		}
	}
	n := copy(p, r.left)
	r.left = r.left[n:]
	return n, nil
}

func (r *sealedReader) fill() error {
	frame, err := r.from.next()
	if err != nil {
		return err
	}
	var h responseHeader
	body, err := parseResponse(frame, &h)
	if err != nil {
		return err
	}
	if h.status != statusSuccess {
		return fmt.Errorf("the server refused the connection: %w", h.remote())
	}
	m, err := saslBody(&h, body)
	if err != nil {
		return fmt.Errorf("read a sealed response: %w", err)
	}
	if m.state != saslWrap {
		return fmt.Errorf("read a sealed response: the server's %v does not belong here", m.state)
	}
	if r.left, err = r.seal.Unwrap(m.token); err != nil {
		return fmt.Errorf("unseal a response: %w", err)
	}
	return nil
}
