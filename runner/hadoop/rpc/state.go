package rpc

import (
	"bytes"
	"sync"
	"sync/atomic"

	"google.golang.org/protobuf/encoding/protowire"
)

// A stateTracker is what servers said of how far they are, which reads from observers need: the last transaction of a
// NameNode, and those of all name services behind a router.
type stateTracker struct {
	last atomic.Int64

	mu         sync.Mutex
	namespaces map[string]int64
	order      []string // of first appearance, so that the encoding is stable
	raw        []byte   // what was merged last
	encoded    atomic.Pointer[[]byte]
}

// saw merges a response's state.
func (s *stateTracker) saw(h *responseHeader) {
	for {
		last := s.last.Load()
		if h.stateID <= last || s.last.CompareAndSwap(last, h.stateID) {
			break
		}
	}
	if len(h.routerState) > 0 {
		s.merge(h.routerState)
	}
}

// routerState is the merged state of all name services, encoded; nil if no router told one.
func (s *stateTracker) routerState() []byte {
	if p := s.encoded.Load(); p != nil {
		return *p
	}
	return nil
}

// merge keeps the larger transaction of each name service. State that cannot be read is left alone: it only makes reads
// fresher.
func (s *stateTracker) merge(raw []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if bytes.Equal(raw, s.raw) {
		return
	}
	s.raw = append(s.raw[:0], raw...)
	changed := false
	for _, e := range parseRouterState(raw) {
		old, known := s.namespaces[e.namespace]
		if known && old >= e.id {
			continue
		}
		if !known {
			if s.namespaces == nil {
				s.namespaces = map[string]int64{}
			}
			s.order = append(s.order, e.namespace)
		}
		s.namespaces[e.namespace], changed = e.id, true
	}
	if changed {
		b := s.encode()
		s.encoded.Store(&b)
	}
}

func (s *stateTracker) encode() []byte {
	var b []byte
	for _, name := range s.order {
		var e []byte
		e = protowire.AppendTag(e, 1, protowire.BytesType)
		e = protowire.AppendString(e, name)
		e = protowire.AppendTag(e, 2, protowire.VarintType)
		e = protowire.AppendVarint(e, uint64(s.namespaces[name]))
		b = protowire.AppendTag(b, 1, protowire.BytesType)
		b = protowire.AppendBytes(b, e)
	}
	return b
}

// A namespaceState is an entry of RouterFederatedStateProto's map.
type namespaceState struct {
	namespace string
	id        int64
}

// parseRouterState reads RouterFederatedStateProto up to the first byte that is no part of one.
func parseRouterState(raw []byte) []namespaceState {
	var all []namespaceState
	for len(raw) > 0 {
		num, kind, n := protowire.ConsumeTag(raw)
		if n < 0 || num != 1 || kind != protowire.BytesType {
			return all
		}
		entry, m := protowire.ConsumeBytes(raw[n:])
		if m < 0 {
			return all
		}
		e, ok := parseNamespaceState(entry)
		if !ok {
			return all
		}
		all, raw = append(all, e), raw[n+m:]
	}
	return all
}

func parseNamespaceState(b []byte) (e namespaceState, ok bool) {
	for len(b) > 0 {
		num, kind, n := protowire.ConsumeTag(b)
		if n < 0 {
			return e, false
		}
		b = b[n:]
		switch {
		case num == 1 && kind == protowire.BytesType:
			e.namespace, n = protowire.ConsumeString(b)
		case num == 2 && kind == protowire.VarintType:
			var v uint64
			v, n = protowire.ConsumeVarint(b)
			e.id = int64(v)
		default:
			n = protowire.ConsumeFieldValue(num, kind, b)
		}
		if n < 0 {
			return e, false
		}
		b = b[n:]
	}
	return e, true
}
