// Package workloads holds the workload files that come with the program, by the names that YCSB gives them.
package workloads

import "embed"

// Files are workloada to workloadf and updateonly, in Java's .properties format.
//
//go:embed workloada workloadb workloadc workloadd workloade workloadf updateonly
var Files embed.FS
