package registry

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"strconv"

	"google.golang.org/protobuf/encoding/protowire"
)

// errZnode is wrapped by errors about values of znodes that are not HBase's.
var errZnode = errors.New("the znode's value is not one of HBase's")

// Framing of values: a magic byte, the length of the writer's identity and that identity, then a magic word and a message.
const (
	znodeMagic    = 0xFF
	messageMagic  = "PBUF"
	maxIdentity   = 1 << 16
	stateOpen     = 3 // of RegionState
	serverPort    = 1<<16 - 1
	identityBytes = 4
)

// message takes the framing off a znode's value.
func message(value []byte) ([]byte, error) {
	if len(value) > 0 && value[0] == znodeMagic {
		if len(value) < 1+identityBytes {
			return nil, fmt.Errorf("%w: it ends within its first %d bytes", errZnode, 1+identityBytes)
		}
		n := binary.BigEndian.Uint32(value[1:])
		value = value[1+identityBytes:]
		if n > maxIdentity || int(n) > len(value) {
			return nil, fmt.Errorf("%w: its writer's identity has %d bytes", errZnode, n)
		}
		value = value[n:]
	}
	if len(value) < len(messageMagic) || string(value[:len(messageMagic)]) != messageMagic {
		return nil, fmt.Errorf("%w: no %s", errZnode, messageMagic)
	}
	return value[len(messageMagic):], nil
}

// each hands a message's fields to visit: the number of a varint, the bytes of bytes.
func each(b []byte, visit func(num protowire.Number, v uint64, bytes []byte)) error {
	for len(b) > 0 {
		num, kind, n := protowire.ConsumeTag(b)
		if n < 0 {
			return fmt.Errorf("%w: %w", errZnode, protowire.ParseError(n))
		}
		b = b[n:]
		var v uint64
		var bytes []byte
		switch kind {
		case protowire.VarintType:
			v, n = protowire.ConsumeVarint(b)
		case protowire.BytesType:
			bytes, n = protowire.ConsumeBytes(b)
		default:
			n = protowire.ConsumeFieldValue(num, kind, b)
		}
		if n < 0 {
			return fmt.Errorf("%w: %w", errZnode, protowire.ParseError(n))
		}
		visit(num, v, bytes)
		b = b[n:]
	}
	return nil
}

// parseServer reads the znode of a server: Master or MetaRegionServer. Both have the ServerName first; state is 0 where
// there is none.
func parseServer(value []byte) (s Server, state uint64, err error) {
	m, err := message(value)
	if err != nil {
		return s, 0, err
	}
	var name []byte
	err = each(m, func(num protowire.Number, v uint64, bytes []byte) {
		switch num {
		case 1:
			name = bytes
		case 3:
			state = v
		}
	})
	if err != nil {
		return s, 0, err
	}
	s, err = parseServerName(name)
	return s, state, err
}

// parseServerName reads a ServerName.
func parseServerName(b []byte) (s Server, err error) {
	var host string
	var port uint64
	err = each(b, func(num protowire.Number, v uint64, bytes []byte) {
		switch num {
		case 1:
			host = string(bytes)
		case 2:
			port = v
		case 3:
			s.StartCode = int64(v)
		}
	})
	if err != nil {
		return Server{}, err
	}
	if host == "" || port == 0 || port > serverPort {
		return Server{}, fmt.Errorf("%w: server %q, port %d", errZnode, host, port)
	}
	s.Address = net.JoinHostPort(host, strconv.FormatUint(port, 10))
	return s, nil
}

// parseClusterID reads the znode of the cluster's identity.
func parseClusterID(value []byte) (id string, err error) {
	m, err := message(value)
	if err != nil {
		return "", err
	}
	err = each(m, func(num protowire.Number, _ uint64, bytes []byte) {
		if num == 1 {
			id = string(bytes)
		}
	})
	if err == nil && id == "" {
		err = fmt.Errorf("%w: no identity", errZnode)
	}
	return id, err
}
