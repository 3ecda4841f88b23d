// Package runner is the root of everything that runs in a pod or on a command line, and knows which build it is.
//
// Below it, plan and report are the contract with the operator, measure records, dfsio carries out TestDFSIO's tests,
// shard is the life of one pod, and hadoop holds what a client of Hadoop needs.
package runner

import (
	"runtime"
	"runtime/debug"
)

// version is set by the linker (-X github.com/hadoop-bench/operator/runner.version=...) and by nothing else.
var version string

// Version tells which build of the runner this is: what the linker was told, else the module version Go recorded, else
// "devel".
func Version() string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "devel"
}

// GoVersion tells which Go the runner was built with.
func GoVersion() string { return runtime.Version() }
