package sasl

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
)

// Stages of a Context.
type stage int

const (
	fresh         stage = iota
	requested           // our first token is made
	authenticated       // the server proved who it is
	established         // the protection is agreed on
)

// A Context is a conversation with one server: Start, then Step with each of the server's tokens until it is established,
// then Wrap and Unwrap. The last two may be used at the same time, each by one goroutine.
type Context struct {
	ticket     Ticket
	wanted     []Protection
	stage      stage
	request    request
	sealer     *Sealer
	protection Protection
	maxMessage int
}

// NewContext gets a ticket for the service, a full principal name. protection are the words of hadoop.rpc.protection that
// are good enough, best first.
func NewContext(ctx context.Context, login Login, service string, protection []string) (*Context, error) {
	t, err := login.Ticket(ctx, service)
	if err != nil {
		return nil, err
	}
	if err := checkKey(t.Key); err != nil {
		return nil, err
	}
	c := &Context{ticket: t}
	for _, word := range protection {
		c.wanted = append(c.wanted, Protection(word))
	}
	return c, nil
}

// Start makes the first token.
func (c *Context) Start() ([]byte, error) {
	r, err := newRequest(c.ticket)
	if err != nil {
		return nil, fmt.Errorf("make a Kerberos token: %w", err)
	}
	c.request, c.stage = r, requested
	return r.token, nil
}

// Step answers the server's token. The answer may be empty, which must be sent all the same.
func (c *Context) Step(token []byte) ([]byte, error) {
	switch c.stage {
	case requested:
		config, err := c.request.parseReply(token, c.ticket.Key)
		if err != nil {
			return nil, err
		}
		if c.sealer, err = NewSealer(config); err != nil {
			return nil, err
		}
		c.stage = authenticated
		return nil, nil
	case authenticated:
		return c.agree(token)
	}
	return nil, errors.New("the server sent a token after the conversation was established")
}

// Sizes of messages.
const (
	maxBuffer    = 1<<24 - 1 // the largest that a security layer's three bytes can say, which we take
	sealOverhead = 128       // more than header, confounder, copy of the header and signature have
	minBuffer    = 2 * sealOverhead
)

// agree chooses a security layer, RFC 4752 section 3.1: the server offers layers and says how large our tokens may be.
func (c *Context) agree(token []byte) ([]byte, error) {
	offer, _, err := c.sealer.Unwrap(token)
	if err != nil {
		return nil, err
	}
	if len(offer) != 4 {
		return nil, fmt.Errorf("the server's offer of protections has %d bytes, it must have 4", len(offer))
	}
	if c.protection, err = choose(c.wanted, offer[0]); err != nil {
		return nil, err
	}
	answer := []byte{c.protection.layer(), 0, 0, 0}
	if c.protection != Authentication {
		size := int(binary.BigEndian.Uint32(offer) & maxBuffer)
		if size < minBuffer {
			return nil, fmt.Errorf("the server takes tokens of at most %d bytes, which is too little", size)
		}
		c.maxMessage = size - sealOverhead
		binary.BigEndian.PutUint32(answer, uint32(c.protection.layer())<<24|maxBuffer)
	}
	reply, err := c.sealer.Wrap(answer, false)
	if err != nil {
		return nil, err
	}
	c.stage = established
	return reply, nil
}

// choose takes the first wanted protection that the server offers.
func choose(wanted []Protection, offered byte) (Protection, error) {
	for _, p := range wanted {
		if offered&p.layer() != 0 {
			return p, nil
		}
	}
	return "", &ProtectionError{Wanted: wanted, Offered: inLayers(offered)}
}

// Established says whether both sides know each other and have agreed on a protection.
func (c *Context) Established() bool { return c.stage == established }

// Protection is what was agreed on.
func (c *Context) Protection() Protection { return c.protection }

// MaxMessage is how many bytes Wrap may be given at once.
func (c *Context) MaxMessage() int { return c.maxMessage }

// Wrap protects bytes as agreed on. They must be no more than MaxMessage.
func (c *Context) Wrap(data []byte) ([]byte, error) {
	return c.sealer.Wrap(data, c.protection == Privacy)
}

// Unwrap opens the server's next token. Under privacy it refuses one that is not sealed.
func (c *Context) Unwrap(token []byte) ([]byte, error) {
	data, sealed, err := c.sealer.Unwrap(token)
	if err != nil {
		return nil, err
	}
	if c.protection == Privacy && !sealed {
		return nil, errors.New("privacy was agreed on, but the server sent a GSS token that is not sealed")
	}
	return data, nil
}
