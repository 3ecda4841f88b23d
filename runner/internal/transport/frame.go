package transport

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

const (
	// KeptBuffer is the size in bytes beyond which a buffer is given back after use.
	KeptBuffer = 1 << 20
	// LengthSize is how many bytes the length in front of a frame has.
	LengthSize = 4

	readBuffer = 256 << 10 // bytes; some thousand answers
)

// A FrameReader cuts a stream into frames, each behind its length: a signed number of 32 bits, big end first.
type FrameReader struct {
	// OnRead is called whenever bytes have come. It may be nil.
	OnRead func()

	from       io.Reader
	limit      int    // bytes of a frame
	key        string // of the configuration that sets limit, for an error's text; may be empty
	buf        []byte
	start, end int // what was read and not given out yet
}

// httpAsSize is what the first four bytes of an HTTP answer look like as a frame's size.
const httpAsSize = 'H'<<24 | 'T'<<16 | 'T'<<8 | 'P'

// NewFrameReader reads frames of at most limit bytes. key is the configuration key that sets the limit, if one does.
func NewFrameReader(from io.Reader, limit int, key string) *FrameReader {
	return &FrameReader{from: from, limit: limit, key: key, buf: make([]byte, readBuffer)}
}

// Next returns the next frame without its length. It is valid until the next call. io.EOF means that the stream ended
// between two frames.
func (r *FrameReader) Next() ([]byte, error) {
	size, err := r.PeekInt32()
	if err != nil {
		return nil, err
	}
	if size < 0 || int(size) > r.limit {
		return nil, r.refuse(int(size))
	}
	frame, err := r.Bytes(LengthSize + int(size))
	if err != nil {
		return nil, err
	}
	return frame[LengthSize:], nil
}

// Bytes returns the next n bytes, which are valid until the next call.
func (r *FrameReader) Bytes(n int) ([]byte, error) {
	if err := r.need(n); err != nil {
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return nil, err
	}
	b := r.buf[r.start : r.start+n]
	r.start += n
	return b, nil
}

// PeekInt32 is the number in the next four bytes, which stay in the stream. io.EOF means that the stream ended before
// them.
func (r *FrameReader) PeekInt32() (int32, error) {
	if err := r.need(LengthSize); err != nil {
		return 0, err
	}
	return int32(binary.BigEndian.Uint32(r.buf[r.start:])), nil
}

// refuse says what is wrong with a frame's size.
func (r *FrameReader) refuse(size int) error {
	if size == httpAsSize {
		return errors.New("the server speaks HTTP: this is a web address, not that of its RPC server")
	}
	limit := "the limit"
	if r.key != "" {
		limit += " (" + r.key + ")"
	}
	return fmt.Errorf("the server sent a frame of %d bytes, %s is %d", size, limit, r.limit)
}

// need reads until n bytes are there.
func (r *FrameReader) need(n int) error {
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
			if r.OnRead != nil {
				r.OnRead()
			}
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
func (r *FrameReader) moveToFront(n int) {
	left := r.buf[r.start:r.end]
	if len(r.buf) > KeptBuffer && n <= readBuffer && len(left) < readBuffer {
		r.buf = make([]byte, readBuffer)
	}
	r.start, r.end = 0, copy(r.buf, left)
}

// grow doubles the buffer, up to n bytes: a frame's length is believed only as far as its bytes have come.
func (r *FrameReader) grow(n int) {
	fresh := make([]byte, min(n, 2*len(r.buf)))
	copy(fresh, r.buf[:r.end])
	r.buf = fresh
}
