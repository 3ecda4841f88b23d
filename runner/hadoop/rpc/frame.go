package rpc

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

const (
	readBuffer  = 256 << 10 // bytes; some thousand answers
	keptBuffer  = 1 << 20   // larger buffers are given back after use
	frameLength = 4
)

// A frameReader cuts a stream into frames, each behind its length.
type frameReader struct {
	from       io.Reader
	limit      int // bytes of a frame
	buf        []byte
	start, end int // what was read and not given out yet
	onRead     func()
}

// httpAsSize is what the first four bytes of an HTTP answer look like as a frame's size.
const httpAsSize = 'H'<<24 | 'T'<<16 | 'T'<<8 | 'P'

func newFrameReader(from io.Reader, limit int) *frameReader {
	return &frameReader{from: from, limit: limit, buf: make([]byte, readBuffer), onRead: func() {}}
}

// next returns the next frame without its length. It is valid until the next call. io.EOF means that the stream ended
// between two frames.
func (r *frameReader) next() ([]byte, error) {
	if err := r.need(frameLength); err != nil {
		return nil, err
	}
	size := int(int32(binary.BigEndian.Uint32(r.buf[r.start:])))
	if size < 0 || size > r.limit {
		if size == httpAsSize {
			return nil, errors.New("the server speaks HTTP: this is a web address, not that of its RPC server")
		}
		return nil, fmt.Errorf("the server sent a frame of %d bytes, the limit (ipc.maximum.response.length) is %d", size, r.limit)
	}
	if err := r.need(frameLength + size); err != nil {
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return nil, err
	}
	frame := r.buf[r.start+frameLength : r.start+frameLength+size]
	r.start += frameLength + size
	return frame, nil
}

// need reads until n bytes are there.
func (r *frameReader) need(n int) error {
	if r.end-r.start >= n {
		return nil
	}
	r.moveToFront(n)
	for r.end < n {
		if r.end == len(r.buf) {
			r.grow(n)
		}
		got, err := r.from.Read(r.buf[r.end:])
		r.end += got
		if got > 0 {
			r.onRead()
			continue
		}
		if err == nil {
			err = io.ErrNoProgress
		}
		if errors.Is(err, io.EOF) && r.end > 0 {
			err = io.ErrUnexpectedEOF
		}
		return err
	}
	return nil
}

// moveToFront makes the room behind what is left as large as it can be. A buffer that a large frame left is given up if
// the next frame, of n bytes, does not need it.
func (r *frameReader) moveToFront(n int) {
	left := r.buf[r.start:r.end]
	if len(r.buf) > keptBuffer && n <= readBuffer && len(left) < readBuffer {
		r.buf = make([]byte, readBuffer)
	}
	r.start, r.end = 0, copy(r.buf, left)
}

// grow doubles the buffer, up to n bytes: a frame's length is believed only as far as its bytes have come.
func (r *frameReader) grow(n int) {
	fresh := make([]byte, min(n, 2*len(r.buf)))
	copy(fresh, r.buf[:r.end])
	r.buf = fresh
}
