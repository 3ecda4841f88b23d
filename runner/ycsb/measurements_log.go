package ycsb

import (
	"bytes"
	"compress/zlib"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"time"
)

// HDRLogs writes what each metric counted between two statuses to a file of its own, in HdrHistogram's log format 1.3. The
// zero value with Open is ready for use, by one goroutine at a time.
type HDRLogs struct {
	// Open makes the file of a metric.
	Open func(metric string) (io.WriteCloser, error)

	files   map[string]io.WriteCloser
	failure error
}

// write appends an interval to a metric's file. What fails is told by Close.
func (l *HDRLogs) write(metric string, origin, from, to time.Time, c *HDRCounts) {
	if l.failure != nil {
		return
	}
	if l.files == nil {
		l.files = map[string]io.WriteCloser{}
	}
	file := l.files[metric]
	if file == nil {
		var err error
		if file, err = l.Open(metric); err != nil {
			l.failure = fmt.Errorf("open the log of %s: %w", metric, err)
			return
		}
		l.files[metric] = file
		l.header(metric, file, origin)
	}
	encoded, err := c.encode()
	if err == nil {
		_, err = fmt.Fprintf(file, "%.3f,%.3f,%.3f,%s\n", from.Sub(origin).Seconds(), to.Sub(from).Seconds(), float64(c.Max())/1e6, encoded)
	}
	l.fail(metric, err)
}

// header begins a file. Times of intervals count from the origin.
func (l *HDRLogs) header(metric string, file io.Writer, origin time.Time) {
	_, err := fmt.Fprintf(file, "#[Logging for: %s]\n#[Histogram log format version 1.3]\n#[StartTime: %.3f (seconds since epoch), %s]\n%s\n",
		metric, float64(origin.UnixMilli())/1000, origin.Format("Mon Jan 02 15:04:05 MST 2006"),
		`"StartTimestamp","Interval_Length","Interval_Max","Interval_Compressed_Histogram"`)
	l.fail(metric, err)
}

func (l *HDRLogs) fail(metric string, err error) {
	if err != nil && l.failure == nil {
		l.failure = fmt.Errorf("write the log of %s: %w", metric, err)
	}
}

// Close closes all files. Its error is also that of earlier writes.
func (l *HDRLogs) Close() error {
	failures := []error{l.failure}
	for metric, file := range l.files {
		if err := file.Close(); err != nil {
			failures = append(failures, fmt.Errorf("close the log of %s: %w", metric, err))
		}
	}
	l.files = nil
	return errors.Join(failures...)
}

// Cookies of HdrHistogram's encoding version 2, with a word size of counters of which readers take no notice.
const (
	hdrCookie           = 0x1c849303 | 0x10
	hdrCompressedCookie = 0x1c849304 | 0x10
)

// encode is the counts in HdrHistogram's compressed encoding, as base64.
func (c *HDRCounts) encode() (string, error) {
	counts := c.zigZag()
	payload := binary.BigEndian.AppendUint32(nil, hdrCookie)
	payload = binary.BigEndian.AppendUint32(payload, uint32(len(counts)))
	payload = binary.BigEndian.AppendUint32(payload, 0) // how far the counters are shifted
	payload = binary.BigEndian.AppendUint32(payload, 3) // significant digits
	payload = binary.BigEndian.AppendUint64(payload, 1) // the smallest value that is told from 0
	// Readers make room for values up to the end of the doubling.
	highest := uint64(max(c.Max(), 4*hdrPageSize-1))
	payload = binary.BigEndian.AppendUint64(payload, highest)
	payload = binary.BigEndian.AppendUint64(payload, math.Float64bits(1)) // what whole values are multiplied with
	payload = append(payload, counts...)

	var compressed bytes.Buffer
	w, err := zlib.NewWriterLevel(&compressed, zlib.BestCompression)
	if err == nil {
		_, err = w.Write(payload)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		return "", fmt.Errorf("compress a histogram: %w", err)
	}
	text := binary.BigEndian.AppendUint32(nil, hdrCompressedCookie)
	text = binary.BigEndian.AppendUint32(text, uint32(compressed.Len()))
	return base64.StdEncoding.EncodeToString(append(text, compressed.Bytes()...)), nil
}

// zigZag is all counters up to that of the greatest value: a count as it is, and a run of zeros as a negative number.
func (c *HDRCounts) zigZag() (encoded []byte) {
	last := hdrIndex(c.Max())
	zeros := int64(0)
	for index := range last + 1 {
		n := int64(0)
		if page := c.pages[index>>hdrPageBits]; page != nil {
			n = page[index&(hdrPageSize-1)]
		}
		if n == 0 {
			zeros++
			continue
		}
		if zeros > 0 {
			encoded = appendZigZag(encoded, -zeros)
			zeros = 0
		}
		encoded = appendZigZag(encoded, n)
	}
	if zeros > 0 {
		encoded = appendZigZag(encoded, -zeros)
	}
	return encoded
}

// appendZigZag appends a number in groups of seven bits, the least significant first; a ninth byte has eight.
func appendZigZag(to []byte, n int64) []byte {
	v := uint64(n<<1) ^ uint64(n>>63)
	for range 8 {
		if v < 0x80 {
			return append(to, byte(v))
		}
		to = append(to, byte(v)|0x80)
		v >>= 7
	}
	return append(to, byte(v))
}
