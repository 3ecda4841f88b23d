// Command protos generates the Go code of the protobuf messages in runner/hadoop/wire and runner/hbase/wire.
//
// Usage, from anywhere in the repository:
//
//	go -C hack/protos run .             writes beside the .proto files
//	go -C hack/protos run . -out DIR    writes the same files below DIR, to compare
//
// It needs no protoc: the files are compiled here, and protoc-gen-go, at the version in go.mod, is run as protoc would
// run it. The same sources always give the same bytes.
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path"
	"path/filepath"
	"regexp"
	"sort"

	"github.com/bufbuild/protocompile"
	"github.com/bufbuild/protocompile/protoutil"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/pluginpb"
)

const root = "../.." // of the repository, seen from this module

// A set is the .proto files of one directory.
type set struct {
	dir string // from the root

	// prefix stands before a file's name in imports, so that no file is registered under a name that another client in
	// the same binary uses.
	prefix string

	// open are the files whose messages are plain structs. The messages of the protocols have their fields behind
	// methods, since that form keeps numbers in place: an answer with ten of them is decoded without ten allocations.
	open []string
}

// sets lists all of them.
func sets() []set {
	return []set{
		// Those around each call, which the transport fills in place.
		{dir: "runner/hadoop/wire", prefix: "hadoopbench/hadoop/", open: []string{"rpc.proto"}},
		{dir: "runner/hbase/wire", prefix: "hadoopbench/hbase/"},
	}
}

// parameter is for protoc-gen-go.
func (s set) parameter() string {
	p := "paths=source_relative,default_api_level=API_OPAQUE"
	for _, name := range s.open {
		p += ",apilevelM" + s.prefix + name + "=API_OPEN"
	}
	return p
}

func main() {
	out := flag.String("out", root, "`directory` to write the Go files below, each set into its own path")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	for _, s := range sets() {
		if err := run(ctx, s, *out); err != nil {
			fmt.Fprintf(os.Stderr, "protos: %s: %v\n", s.dir, err)
			os.Exit(1)
		}
	}
}

func run(ctx context.Context, s set, out string) error {
	request, err := compile(ctx, s)
	if err != nil {
		return err
	}
	response, err := generate(ctx, request)
	if err != nil {
		return err
	}
	for _, file := range response.File {
		if err := checkVersion(file.GetContent()); err != nil {
			return err
		}
		if err := write(filepath.Join(out, s.dir, path.Base(file.GetName())), []byte(file.GetContent())); err != nil {
			return err
		}
	}
	return nil
}

// sources are the .proto files, by the names under which they import one another.
func (s set) sources() ([]string, error) {
	dir := filepath.Join(root, s.dir)
	paths, err := filepath.Glob(filepath.Join(dir, "*.proto"))
	if err != nil {
		return nil, fmt.Errorf("list .proto files: %w", err)
	}
	if len(paths) == 0 {
		return nil, fmt.Errorf("%s has no .proto files; run this with %q", dir, "go -C hack/protos run .")
	}
	names := make([]string, 0, len(paths))
	for _, p := range paths {
		names = append(names, s.prefix+filepath.Base(p))
	}
	sort.Strings(names)
	return names, nil
}

// compile makes what protoc would hand to a plugin.
func compile(ctx context.Context, s set) (*pluginpb.CodeGeneratorRequest, error) {
	names, err := s.sources()
	if err != nil {
		return nil, err
	}
	compiler := protocompile.Compiler{
		Resolver: &protocompile.SourceResolver{
			Accessor: func(name string) (io.ReadCloser, error) { return os.Open(filepath.Join(root, s.dir, path.Base(name))) },
		},
		SourceInfoMode: protocompile.SourceInfoStandard, // comments
	}
	files, err := compiler.Compile(ctx, names...)
	if err != nil {
		return nil, fmt.Errorf("compile: %w", err)
	}
	request := &pluginpb.CodeGeneratorRequest{FileToGenerate: names, Parameter: proto.String(s.parameter())}
	added := map[string]bool{}
	var add func(protoreflect.FileDescriptor)
	add = func(file protoreflect.FileDescriptor) {
		if added[file.Path()] {
			return
		}
		added[file.Path()] = true
		// A file comes after those it imports.
		for i := range file.Imports().Len() {
			add(file.Imports().Get(i).FileDescriptor)
		}
		request.ProtoFile = append(request.ProtoFile, protoutil.ProtoFromFileDescriptor(file))
	}
	for _, file := range files {
		add(file)
	}
	return request, nil
}

// generate runs protoc-gen-go.
func generate(ctx context.Context, request *pluginpb.CodeGeneratorRequest) (*pluginpb.CodeGeneratorResponse, error) {
	input, err := proto.MarshalOptions{Deterministic: true}.Marshal(request)
	if err != nil {
		return nil, fmt.Errorf("encode the request: %w", err)
	}
	var output bytes.Buffer
	cmd := exec.CommandContext(ctx, "go", "tool", "protoc-gen-go")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(input), &output, os.Stderr
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("run protoc-gen-go: %w", err)
	}
	response := new(pluginpb.CodeGeneratorResponse)
	if err := proto.Unmarshal(output.Bytes(), response); err != nil {
		return nil, fmt.Errorf("decode protoc-gen-go's answer: %w", err)
	}
	if response.Error != nil {
		return nil, fmt.Errorf("protoc-gen-go: %s", response.GetError())
	}
	return response, nil
}

// checkVersion holds the generator to the version that the repository's own go.mod gives the protobuf library: the
// generated code and the library belong together.
func checkVersion(content string) error {
	mod, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		return fmt.Errorf("read the repository's go.mod: %w", err)
	}
	library := regexp.MustCompile(`google\.golang\.org/protobuf (v\S+)`).FindSubmatch(mod)
	generator := regexp.MustCompile(`protoc-gen-go (v\S+)`).FindStringSubmatch(content)
	if library == nil || generator == nil {
		return errors.New("cannot find the version of google.golang.org/protobuf in go.mod or in the generated code")
	}
	if string(library[1]) != generator[1] {
		return fmt.Errorf("protoc-gen-go is %s, but go.mod has google.golang.org/protobuf %s; set hack/protos/go.mod to the same", generator[1], library[1])
	}
	return nil
}

// write leaves a file alone that holds data already, so that it keeps its time stamp.
func write(name string, data []byte) error {
	if old, err := os.ReadFile(name); err == nil && bytes.Equal(old, data) {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return fmt.Errorf("make a directory: %w", err)
	}
	if err := os.WriteFile(name, data, 0o644); err != nil {
		return fmt.Errorf("write generated code: %w", err)
	}
	return nil
}
