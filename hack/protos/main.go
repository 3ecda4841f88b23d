// Command protos generates the Go code of the protobuf messages in runner/hadoop/wire.
//
// Usage, from anywhere in the repository:
//
//	go -C hack/protos run .             writes beside the .proto files
//	go -C hack/protos run . -out DIR    writes the same files into DIR, to compare
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

const (
	root = "../.." // of the repository, seen from this module

	// prefix stands before a file's name in imports, so that no file is registered under a name that another Hadoop
	// client in the same binary uses.
	prefix = "hadoopbench/hadoop/"

	// parameter is for protoc-gen-go. The messages of the protocols have their fields behind methods, since that form
	// keeps numbers in place: an answer with ten of them is decoded without ten allocations. Those around each call are
	// plain structs, which the transport fills in place.
	parameter = "paths=source_relative,default_api_level=API_OPAQUE,apilevelM" + prefix + "rpc.proto=API_OPEN"
)

func main() {
	in := filepath.Join(root, "runner/hadoop/wire")
	out := flag.String("out", in, "`directory` to write the Go files into")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, in, *out); err != nil {
		fmt.Fprintln(os.Stderr, "protos:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, in, out string) error {
	names, err := sources(in)
	if err != nil {
		return err
	}
	request, err := compile(ctx, in, names)
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
		if err := write(filepath.Join(out, path.Base(file.GetName())), []byte(file.GetContent())); err != nil {
			return err
		}
	}
	return nil
}

// sources are the .proto files of a directory, by the names under which they import one another.
func sources(dir string) ([]string, error) {
	paths, err := filepath.Glob(filepath.Join(dir, "*.proto"))
	if err != nil {
		return nil, fmt.Errorf("list .proto files: %w", err)
	}
	if len(paths) == 0 {
		return nil, fmt.Errorf("%s has no .proto files; run this with %q", dir, "go -C hack/protos run .")
	}
	names := make([]string, 0, len(paths))
	for _, p := range paths {
		names = append(names, prefix+filepath.Base(p))
	}
	sort.Strings(names)
	return names, nil
}

// compile makes what protoc would hand to a plugin.
func compile(ctx context.Context, dir string, names []string) (*pluginpb.CodeGeneratorRequest, error) {
	compiler := protocompile.Compiler{
		Resolver: &protocompile.SourceResolver{
			Accessor: func(name string) (io.ReadCloser, error) { return os.Open(filepath.Join(dir, path.Base(name))) },
		},
		SourceInfoMode: protocompile.SourceInfoStandard, // comments
	}
	files, err := compiler.Compile(ctx, names...)
	if err != nil {
		return nil, fmt.Errorf("compile: %w", err)
	}
	request := &pluginpb.CodeGeneratorRequest{FileToGenerate: names, Parameter: proto.String(parameter)}
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
