package transport_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"github.com/hadoop-bench/operator/runner/internal/transport"
)

// cut are the frames of a stream, and why they ended.
func cut(from io.Reader, limit int) (frames [][]byte, err error) {
	r := transport.NewFrameReader(from, limit, "a.key")
	for {
		frame, err := r.Next()
		if err != nil {
			return frames, err
		}
		frames = append(frames, bytes.Clone(frame))
	}
}

func TestFramesAreCutHoweverTheyArrive(t *testing.T) {
	large := strings.Repeat("x", 600<<10)
	want := []string{"", "a", large, "bc", strings.Repeat("y", 300<<10), "d"}
	var stream []byte
	for _, f := range want {
		stream = append(binary.BigEndian.AppendUint32(stream, uint32(len(f))), f...)
	}
	readers := map[string]func(io.Reader) io.Reader{
		"at once": func(r io.Reader) io.Reader { return r },
		"halves":  iotest.HalfReader,
		"bytes":   iotest.OneByteReader,
	}
	for name, reader := range readers {
		t.Run(name, func(t *testing.T) {
			frames, err := cut(reader(bytes.NewReader(stream)), 1<<20)
			if !errors.Is(err, io.EOF) {
				t.Fatal(err)
			}
			var got []string
			for _, f := range frames {
				got = append(got, string(f))
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error("the frames differ")
			}
			if _, err := cut(reader(bytes.NewReader(stream[:len(stream)-1])), 1<<20); !errors.Is(err, io.ErrUnexpectedEOF) {
				t.Errorf("a stream cut short: %v", err)
			}
		})
	}
}

func FuzzFrames(f *testing.F) {
	f.Add([]byte("\x00\x00\x00\x01a\x00\x00\x00\x00"))
	f.Add([]byte("\xff\x00\x00\x01a"))
	f.Fuzz(func(t *testing.T, stream []byte) {
		frames, err := cut(iotest.OneByteReader(bytes.NewReader(stream)), 1<<16)
		if err == nil {
			t.Fatal("a stream without end")
		}
		var again []byte
		for _, frame := range frames {
			again = append(binary.BigEndian.AppendUint32(again, uint32(len(frame))), frame...)
		}
		if !bytes.HasPrefix(stream, again) || (errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) && len(again) != len(stream)) {
			t.Errorf("%x became %x", stream, again)
		}
	})
}

func TestFramesRefused(t *testing.T) {
	tests := map[string]struct{ stream, key, want string }{
		"too long":         {"\x00\x00\x00\x0b", "a.key", "the server sent a frame of 11 bytes, the limit (a.key) is 10"},
		"too long, no key": {"\x00\x00\x00\x0b", "", "the server sent a frame of 11 bytes, the limit is 10"},
		"negative":         {"\xff\xff\xff\xff", "", "the server sent a frame of -1 bytes, the limit is 10"},
		"a web server":     {"HTTP/1.1 400 Bad Request", "a.key", "the server speaks HTTP: this is a web address, not that of its RPC server"},
		"half a length":    {"\x00\x00", "", "unexpected EOF"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := transport.NewFrameReader(strings.NewReader(tt.stream), 10, tt.key).Next()
			if err == nil || err.Error() != tt.want {
				t.Errorf("got %v, want %s", err, tt.want)
			}
		})
	}
}

// TestNumbersBetweenFrames: a stream may have numbers and texts of known length before or between its frames.
func TestNumbersBetweenFrames(t *testing.T) {
	r := transport.NewFrameReader(iotest.OneByteReader(strings.NewReader("\xff\xff\xff\xa8abc\x00\x00\x00\x01d")), 10, "")
	number, err := r.PeekInt32()
	if err != nil || number != -88 {
		t.Errorf("got number %d and error %v, want -88", number, err)
	}
	for _, want := range []string{"\xff\xff\xff\xa8", "abc"} {
		if b, err := r.Bytes(len(want)); err != nil || string(b) != want {
			t.Errorf("got %q and error %v, want %q", b, err, want)
		}
	}
	if frame, err := r.Next(); err != nil || string(frame) != "d" {
		t.Errorf("got frame %q and error %v, want d", frame, err)
	}
	if _, err := r.Bytes(1); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("got %v at the stream's end", err)
	}
}
