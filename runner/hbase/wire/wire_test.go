package wire_test

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/hadoop-bench/operator/runner/hbase/wire"
)

// files are the descriptors of all files of the package.
func files() []protoreflect.FileDescriptor {
	return []protoreflect.FileDescriptor{
		wire.File_hadoopbench_hbase_hbase_proto, wire.File_hadoopbench_hbase_rpc_proto, wire.File_hadoopbench_hbase_cell_proto,
		wire.File_hadoopbench_hbase_client_proto, wire.File_hadoopbench_hbase_registry_proto, wire.File_hadoopbench_hbase_cluster_proto,
		wire.File_hadoopbench_hbase_zookeeper_proto, wire.File_hadoopbench_hbase_master_proto, wire.File_hadoopbench_hbase_admin_proto,
	}
}

// A definition is a message's field, by the message's name and the field's number, or an enumeration's value, by the
// enumeration's name and the value's number.
type definition struct {
	in     string
	number int
}

// A fact is what a definition says.
type fact struct {
	name  string
	label string // of a field: optional, required, repeated
	kind  string // of a field: its type, without a package
}

func (f fact) String() string { return strings.TrimSpace(f.name + " " + f.label + " " + f.kind) }

// known are the definitions of a version of HBase.
func known(t *testing.T, version string) map[definition]fact {
	t.Helper()
	text, err := os.ReadFile("testdata/hbase-" + version + ".txt")
	if err != nil {
		t.Fatal(err)
	}
	all := map[definition]fact{}
	message := ""
	for line := range strings.Lines(string(text)) {
		words := strings.Fields(line)
		switch {
		case line[0] == ' ':
			all[definition{message, number(t, words[1])}] = fact{words[0], words[2], words[3]}
		case words[0] == "message":
			message = words[1]
		case words[0] == "enum":
			for _, value := range words[2:] {
				name, digits, _ := strings.Cut(value, "=")
				all[definition{words[1], number(t, digits)}] = fact{name: name}
			}
		}
	}
	return all
}

func number(t *testing.T, digits string) int {
	t.Helper()
	n, err := strconv.Atoi(digits)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// local is a full name without our package.
func local(name protoreflect.FullName) string {
	return strings.TrimPrefix(string(name), "hadoopbench.hbase.")
}

// describe puts the definitions of our descriptors into all.
func describe(all map[definition]fact, messages protoreflect.MessageDescriptors, enums protoreflect.EnumDescriptors) {
	for i := range enums.Len() {
		values := enums.Get(i).Values()
		for j := range values.Len() {
			v := values.Get(j)
			all[definition{local(enums.Get(i).FullName()), int(v.Number())}] = fact{name: string(v.Name())}
		}
	}
	for i := range messages.Len() {
		m := messages.Get(i)
		for j := range m.Fields().Len() {
			f := m.Fields().Get(j)
			kind := f.Kind().String()
			switch {
			case f.Message() != nil:
				kind = local(f.Message().FullName())
			case f.Enum() != nil:
				kind = local(f.Enum().FullName())
			}
			all[definition{local(m.FullName()), int(f.Number())}] = fact{string(f.Name()), f.Cardinality().String(), kind}
		}
		describe(all, m.Messages(), m.Enums())
	}
}

// ours are all definitions of the package.
func ours() map[definition]fact {
	all := map[definition]fact{}
	for _, file := range files() {
		describe(all, file.Messages(), file.Enums())
	}
	return all
}

// only17 are messages that 1.7 alone has.
func only17(message string) bool { return strings.HasPrefix(message, "SplitRegion") }

func TestDefinitionsAreHBases(t *testing.T) {
	newest, oldest := known(t, "2.6.4"), known(t, "1.7.2")
	count := 0
	for d, got := range ours() {
		count++
		want := newest[d]
		if only17(d.in) {
			want = oldest[d]
		}
		if got != want {
			t.Errorf("%s %d is %q, in HBase %q", d.in, d.number, got, want)
		}
	}
	if count < 250 {
		t.Errorf("only %d definitions were compared", count)
	}
}

// TestOlderVersionsAgree: what an older version has under the same number is the same; only names may differ.
func TestOlderVersionsAgree(t *testing.T) {
	tests := map[string]struct {
		compared int               // definitions, at least
		renamed  map[string]string // message and our name to its name
	}{
		"2.5.10": {compared: 240},
		"1.7.2": {
			compared: 200,
			renamed: map[string]string{
				"RegionLoad mem_store_size_MB":              "memstore_size_MB",
				"GetProcedureResultResponse submitted_time": "start_time",
			},
		},
	}
	for version, tt := range tests {
		t.Run(version, func(t *testing.T) {
			older, count := known(t, version), 0
			for d, got := range ours() {
				want, has := older[d]
				if !has {
					continue
				}
				count++
				if name, ok := tt.renamed[d.in+" "+got.name]; ok {
					got.name = name
				}
				if got != want {
					t.Errorf("%s %d is %q, in HBase %s %q", d.in, d.number, got, version, want)
				}
			}
			if count < tt.compared {
				t.Errorf("only %d definitions were compared", count)
			}
		})
	}
}

// TestRequestsHaveEveryRequiredField, else a server would reject them. Answers need only what is looked at.
func TestRequestsHaveEveryRequiredField(t *testing.T) {
	defined := ours()
	sent := sentMessages()
	for _, version := range []string{"2.6.4", "2.5.10", "1.7.2"} {
		t.Run(version, func(t *testing.T) {
			checked := 0
			for d, f := range known(t, version) {
				if f.label != "required" || !sent[d.in] {
					continue
				}
				checked++
				if defined[d] == (fact{}) {
					t.Errorf("%s has no field %s, which HBase requires", d.in, f.name)
				}
			}
			if checked < 40 {
				t.Errorf("only %d fields were checked", checked)
			}
		})
	}
}

// sentMessages are the requests and headers, and all that lies in them.
func sentMessages() map[string]bool {
	sent := map[string]bool{}
	var add func(m protoreflect.MessageDescriptor)
	add = func(m protoreflect.MessageDescriptor) {
		sent[local(m.FullName())] = true
		for i := range m.Fields().Len() {
			if below := m.Fields().Get(i).Message(); below != nil {
				add(below)
			}
		}
	}
	for _, file := range files() {
		for i := range file.Messages().Len() {
			m := file.Messages().Get(i)
			name := string(m.Name())
			if strings.HasSuffix(name, "Request") || strings.HasSuffix(name, "Header") || strings.HasSuffix(name, "Filter") || name == "FilterList" {
				add(m)
			}
		}
	}
	return sent
}

// TestEncoding: 64-bit times and the fatal call id are unsigned on the wire, though Java's are signed.
func TestEncoding(t *testing.T) {
	tests := map[string]struct {
		message proto.Message
		want    string
	}{
		"fatal response":   {wire.ResponseHeader_builder{CallId: proto.Uint32(0xffffffff)}.Build(), "08ffffffff0f"},
		"latest timestamp": {wire.Cell_builder{Timestamp: proto.Uint64(1<<63 - 1)}.Build(), "20ffffffffffffffff7f"},
		"meta by name": {wire.RegionSpecifier_builder{
			Type: wire.RegionSpecifier_REGION_NAME.Enum(), Value: []byte("hbase:meta,,1"),
		}.Build(), "0801" + "120d" + "68626173653a6d6574612c2c31"},
		"request": {wire.RequestHeader_builder{
			CallId: proto.Uint32(0), MethodName: proto.String("Get"), RequestParam: proto.Bool(true),
			CellBlockMeta: wire.CellBlockMeta_builder{Length: proto.Uint32(300)}.Build(), Timeout: proto.Uint32(20000),
		}.Build(), "0800" + "1a03476574" + "2001" + "2a0308ac02" + "38a09c01"},
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
