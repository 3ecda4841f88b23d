// Generates the Go code of the protobuf messages; see main.go.
module github.com/hadoop-bench/operator/hack/protos

go 1.26.0

tool google.golang.org/protobuf/cmd/protoc-gen-go

require (
	github.com/bufbuild/protocompile v0.14.1
	google.golang.org/protobuf v1.36.12
)

require golang.org/x/sync v0.8.0 // indirect
