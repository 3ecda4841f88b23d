package rpc

import (
	"errors"
	"fmt"
	"io"
)

// read hands answers to their callers until the connection ends.
func (c *conn) read() {
	var r response
	for {
		frame, err := c.frames.Next()
		if errors.Is(err, io.EOF) {
			err = c.ended()
		}
		if err == nil {
			err = c.deliver(frame, &r)
		}
		if err != nil {
			c.Fail(err)
			return
		}
	}
}

// ended says that the server closed the connection. It does that without a word if it does not know the service.
func (c *conn) ended() error {
	if c.served.Load() {
		return errors.New("the server closed the connection")
	}
	return fmt.Errorf("the server closed the connection before it answered anything (it does so too if it has no %s)", c.key.service)
}

// deliver gives a response to its call. An error means that the connection cannot be used any more.
func (c *conn) deliver(frame []byte, r *response) error {
	if err := r.parse(frame); err != nil {
		return err
	}
	var remote *RemoteError
	if r.exception != nil {
		var err error
		if remote, err = r.remote(); err != nil {
			return err
		}
	}
	if r.callID == fatalCallID {
		if remote == nil {
			return errors.New("the server ended the connection without saying why")
		}
		return fmt.Errorf("the server ended the connection: %w", remote)
	}
	call, err := c.claim(r.callID)
	if err != nil {
		return err
	}
	c.served.Store(true)
	switch {
	case call == nil:
	case remote != nil:
		call.fail(remote)
	default:
		call.answer(r)
	}
	return nil
}
