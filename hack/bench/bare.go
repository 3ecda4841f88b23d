package main

import (
	"bufio"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"slices"
	"time"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/hadoop-bench/operator/runner/hbase/wire"
)

// bare exchanges requests with a fake HBase that does not look into them, so many at a time for so long, by as little as it
// takes: one goroutine, no result decoded. It returns the latencies, ascending: what any client finds there, above all how
// late the server's timer is.
func bare(ctx context.Context, address string, atOnce int, length time.Duration) ([]time.Duration, error) {
	ctx, cancel := context.WithTimeout(ctx, length+10*time.Second)
	defer cancel()
	nc, err := new(net.Dialer).DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	defer nc.Close()
	defer context.AfterFunc(ctx, func() { _ = nc.Close() })()
	greeting, err := bareGreeting()
	if err != nil {
		return nil, err
	}
	if _, err := nc.Write(greeting); err != nil {
		return nil, err
	}
	return bareExchange(nc, atOnce, length)
}

// bareGreeting is the preamble and the frame that follows it.
func bareGreeting() ([]byte, error) {
	header, err := proto.Marshal(wire.ConnectionHeader_builder{
		UserInfo:            wire.UserInformation_builder{EffectiveUser: proto.String("root")}.Build(),
		ServiceName:         proto.String("ClientService"),
		CellBlockCodecClass: proto.String("org.apache.hadoop.hbase.codec.KeyValueCodec"),
		VersionInfo: wire.VersionInfo_builder{
			Version: proto.String("2.6.4"), Url: proto.String(""), Revision: proto.String(""), User: proto.String(""), Date: proto.String(""),
			SrcChecksum: proto.String(""), VersionMajor: proto.Uint32(2), VersionMinor: proto.Uint32(6),
		}.Build(),
	}.Build())
	greeting := binary.BigEndian.AppendUint32([]byte("HBas\x00\x50"), uint32(len(header)))
	return append(greeting, header...), err
}

func bareExchange(nc net.Conn, atOnce int, length time.Duration) ([]time.Duration, error) {
	began := make([]time.Time, atOnce)
	send := func(id int) error {
		began[id] = time.Now()
		_, err := nc.Write(bareGet(id))
		return err
	}
	for id := range atOnce {
		if err := send(id); err != nil {
			return nil, err
		}
	}
	var latencies []time.Duration
	in := bufio.NewReaderSize(nc, 256<<10)
	for end, open := time.Now().Add(length), atOnce; open > 0; {
		id, err := bareAnswer(in)
		if err != nil || id >= atOnce {
			return nil, fmt.Errorf("read the answer to call %d of %d: %w", id, atOnce, err)
		}
		now := time.Now()
		latencies = append(latencies, now.Sub(began[id]))
		if now.After(end) {
			open--
		} else if err := send(id); err != nil {
			return nil, err
		}
	}
	slices.Sort(latencies)
	return latencies, nil
}

// bareGet is a frame with the header {call_id, method_name, request_param} and a message without fields.
func bareGet(id int) []byte {
	header := protowire.AppendVarint([]byte{1 << 3}, uint64(id))
	header = append(protowire.AppendString(append(header, 3<<3|2), "Get"), 4<<3, 1)
	frame := append(protowire.AppendBytes(make([]byte, 4, 64), header), 0)
	binary.BigEndian.PutUint32(frame, uint32(len(frame)-4))
	return frame
}

// bareAnswer reads a frame and returns the call's number, which the header begins with.
func bareAnswer(in *bufio.Reader) (id int, err error) {
	size, err := in.Peek(4)
	if err != nil {
		return 0, err
	}
	frame, err := in.Peek(4 + int(binary.BigEndian.Uint32(size)))
	if err != nil {
		return 0, err
	}
	header, n := protowire.ConsumeBytes(frame[4:])
	if n < 2 || header[0] != 1<<3 {
		return 0, fmt.Errorf("a frame of %d bytes does not begin with a call's number: %w", len(frame), io.ErrUnexpectedEOF)
	}
	number, _ := protowire.ConsumeVarint(header[1:])
	_, err = in.Discard(len(frame))
	return int(number), err
}
