package wire_test

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/colinmarc/hdfs/v2"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	"github.com/hadoop-bench/operator/runner/hadoop/wire"
)

// files are the descriptors of all files of the package.
func files() []protoreflect.FileDescriptor {
	return []protoreflect.FileDescriptor{
		wire.File_hadoopbench_hadoop_rpc_proto, wire.File_hadoopbench_hadoop_hdfs_proto,
		wire.File_hadoopbench_hadoop_client_proto, wire.File_hadoopbench_hadoop_datanode_proto,
	}
}

// facts are Hadoop's messages and enumerations: from "Message.field" to "number label type", from "Enum.VALUE" to its
// number.
func facts(t *testing.T) map[string]string {
	t.Helper()
	text, err := os.ReadFile("testdata/hadoop-3.5.0.txt")
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]string{}
	message := ""
	for line := range strings.Lines(string(text)) {
		words := strings.Fields(line)
		switch {
		case words[0] == "#":
		case words[0] == "message":
			message = words[1]
			known[message] = "message"
		case words[0] == "enum":
			for _, value := range words[2:] {
				name, number, _ := strings.Cut(value, "=")
				known[words[1]+"."+name] = number
			}
		default:
			known[message+"."+words[0]] = strings.Join(words[1:], " ")
		}
	}
	return known
}

// local is a full name without our package.
func local(name protoreflect.FullName) string {
	return strings.TrimPrefix(string(name), "hadoopbench.hadoop.")
}

// described lists fields and values of our descriptors in the form of facts.
func described(messages protoreflect.MessageDescriptors, enums protoreflect.EnumDescriptors) map[string]string {
	ours := map[string]string{}
	for i := range enums.Len() {
		values := enums.Get(i).Values()
		for j := range values.Len() {
			ours[local(enums.Get(i).FullName())+"."+string(values.Get(j).Name())] = strconv.Itoa(int(values.Get(j).Number()))
		}
	}
	for i := range messages.Len() {
		m := messages.Get(i)
		ours[local(m.FullName())] = "message"
		for j := range m.Fields().Len() {
			f := m.Fields().Get(j)
			kind := f.Kind().String()
			switch {
			case f.Message() != nil:
				kind = local(f.Message().FullName())
			case f.Enum() != nil:
				kind = local(f.Enum().FullName())
			}
			ours[local(f.FullName())] = fmt.Sprintf("%d %s %s", f.Number(), f.Cardinality(), kind)
		}
		for name, fact := range described(m.Messages(), m.Enums()) {
			ours[name] = fact
		}
	}
	return ours
}

// required lists the required fields of each message in facts.
func required(known map[string]string) map[string][]string {
	fields := map[string][]string{}
	for name, fact := range known {
		if words := strings.Fields(fact); len(words) == 3 && words[1] == "required" {
			i := strings.LastIndexByte(name, '.')
			fields[name[:i]] = append(fields[name[:i]], name[i+1:])
		}
	}
	return fields
}

func TestDefinitionsAreHadoops(t *testing.T) {
	known := facts(t)
	count := 0
	for _, file := range files() {
		for name, fact := range described(file.Messages(), file.Enums()) {
			count++
			if known[name] != fact {
				t.Errorf("%s is %q, in Hadoop %q", name, fact, known[name])
			}
		}
	}
	if count < 250 {
		t.Errorf("only %d definitions were compared", count)
	}
}

// TestRequestsHaveEveryRequiredField, else a server would reject them. Answers need only what is looked at.
func TestRequestsHaveEveryRequiredField(t *testing.T) {
	needed := required(facts(t))
	checked := 0
	var check func(m protoreflect.MessageDescriptor)
	check = func(m protoreflect.MessageDescriptor) {
		for _, field := range needed[local(m.FullName())] {
			checked++
			if m.Fields().ByName(protoreflect.Name(field)) == nil {
				t.Errorf("%s has no field %s, which Hadoop requires", m.FullName(), field)
			}
		}
		for i := range m.Fields().Len() {
			if below := m.Fields().Get(i).Message(); below != nil {
				check(below)
			}
		}
	}
	for _, file := range files() {
		for i := range file.Messages().Len() {
			m := file.Messages().Get(i)
			if strings.HasSuffix(string(m.Name()), "RequestProto") || strings.Contains(string(m.Name()), "Header") || m.Name() == "RpcSaslProto" {
				check(m)
			}
		}
	}
	if checked < 100 {
		t.Errorf("only %d fields were checked", checked)
	}
}

// TestBesideAnotherHadoopClient: protobuf files and messages are registered for the whole process, and two of the same
// name end it at its start. That this test runs at all shows that ours have names of their own.
func TestBesideAnotherHadoopClient(t *testing.T) {
	if client, err := hdfs.NewClient(hdfs.ClientOptions{}); err == nil {
		client.Close()
	}
	var registered []string
	protoregistry.GlobalFiles.RangeFiles(func(f protoreflect.FileDescriptor) bool {
		registered = append(registered, f.Path())
		return true
	})
	for _, want := range []string{"ClientNamenodeProtocol.proto", "hadoopbench/hadoop/client.proto"} {
		if !slices.Contains(registered, want) {
			t.Errorf("%s is not registered; registered are %q", want, registered)
		}
	}
}

// TestNegativeNumbers: call ids are zig-zag in requests, but two's complement in answers; a DataNode's layout version is a
// negative number in an unsigned field.
func TestNegativeNumbers(t *testing.T) {
	request := &wire.RpcRequestHeaderProto{CallId: proto.Int32(-3), ClientId: []byte{}, RetryCount: proto.Int32(-1)}
	answer := &wire.RpcResponseHeaderProto{CallId: proto.Uint32(uint32(0xfffffffd)), Status: wire.RpcResponseHeaderProto_SUCCESS.Enum()}
	storage := &wire.StorageInfoProto{}
	storage.SetLayoutVersion(4294967229)
	storage.SetNamespceID(1)
	storage.SetClusterID("")
	storage.SetCTime(2)
	tests := map[string]struct {
		message proto.Message
		want    string
	}{
		"request header":  {request, "1805" + "2200" + "2801"},
		"response header": {answer, "08fdffffff0f" + "1000"},
		"layout version":  {storage, "08bdffffff0f" + "1001" + "1a00" + "2002"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := proto.Marshal(tt.message)
			if err != nil || fmt.Sprintf("%x", got) != tt.want {
				t.Errorf("encoded %x, %v; want %s", got, err, tt.want)
			}
		})
	}
}
