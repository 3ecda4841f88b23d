package rpc

import (
	"errors"
	"fmt"
	"io"
)

// read hands answers to their callers until the connection ends.
func (c *conn) read() {
	var h responseHeader
	for {
		frame, err := c.frames.Next()
		if errors.Is(err, io.EOF) {
			err = errors.New("the server closed the connection")
		}
		if err == nil {
			err = c.deliver(frame, &h)
		}
		if err != nil {
			c.Fail(err)
			return
		}
	}
}

// deliver gives a response to its call. An error means that the connection cannot be used any more.
func (c *conn) deliver(frame []byte, h *responseHeader) error {
	body, err := parseResponse(frame, h)
	if err != nil {
		return err
	}
	var message []byte
	if h.status == statusSuccess {
		if message, err = parseBody(body); err != nil {
			return err
		}
	}
	if h.callID < 0 {
		return c.control(h)
	}
	call, known := c.claim(h.callID)
	if !known {
		return fmt.Errorf("the server answered call %d, which is not in flight", h.callID)
	}
	c.client.states.saw(h)
	c.served.Store(true)
	var remote *RemoteError
	if h.status != statusSuccess {
		remote = h.remote()
	}
	if call != nil {
		if remote != nil {
			call.finish(nil, remote)
		} else {
			call.finish(message, nil)
		}
	}
	if remote != nil && remote.Fatal {
		return fmt.Errorf("the server ended the connection: %w", remote)
	}
	return nil
}

// control judges a response that is for no call: a server refuses a connection so.
func (c *conn) control(h *responseHeader) error {
	if h.status != statusSuccess {
		return fmt.Errorf("the server refused the connection: %w", h.remote())
	}
	return fmt.Errorf("the server answered call %d, which is not in flight", h.callID)
}
