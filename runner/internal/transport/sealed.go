package transport

import (
	"fmt"
	"io"

	"github.com/hadoop-bench/operator/runner/hadoop/sasl"
)

// A SealedWriter sends a stream inside SASL's tokens, each of them no larger than the server takes.
type SealedWriter struct {
	To   io.Writer
	Seal *sasl.Context
	// Frame appends a token in the form in which the protocol sends it.
	Frame func(b, token []byte) []byte

	out []byte
}

// Write sends all of b at once.
func (w *SealedWriter) Write(b []byte) (int, error) {
	if cap(w.out) > KeptBuffer {
		w.out = nil
	}
	w.out = w.out[:0]
	for rest := b; len(rest) > 0; {
		n := min(len(rest), w.Seal.MaxMessage())
		token, err := w.Seal.Wrap(rest[:n])
		if err != nil {
			return 0, fmt.Errorf("seal a request: %w", err)
		}
		w.out, rest = w.Frame(w.out, token), rest[n:]
	}
	if _, err := w.To.Write(w.out); err != nil {
		return 0, err
	}
	return len(b), nil
}

// A SealedReader is the stream inside the server's tokens.
type SealedReader struct {
	From *FrameReader
	Seal *sasl.Context
	// Token takes the token out of a frame.
	Token func(frame []byte) ([]byte, error)

	left []byte // unsealed and not given out yet
}

// Read gives out what is left of a token, or the next one's beginning.
func (r *SealedReader) Read(p []byte) (int, error) {
	for len(r.left) == 0 {
		if err := r.fill(); err != nil {
			return 0, err
		}
	}
	n := copy(p, r.left)
	r.left = r.left[n:]
	return n, nil
}

func (r *SealedReader) fill() error {
	frame, err := r.From.Next()
	if err != nil {
		return err
	}
	token, err := r.Token(frame)
	if err != nil {
		return err
	}
	if r.left, err = r.Seal.Unwrap(token); err != nil {
		return fmt.Errorf("unseal a response: %w", err)
	}
	return nil
}
