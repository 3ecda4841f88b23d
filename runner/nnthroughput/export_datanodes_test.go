package nnthroughput

import (
	"github.com/hadoop-bench/operator/runner/plan"
)

// What the tests of fake DataNodes, markers and facts look at.
var (
	CommonUUID   = commonUUID
	FakeCapacity = fakeCapacity
	RunLength    = runLength
	Replicas     = replicas
	ActiveSide   = activeSide
	IsAttempt    = isAttempt
	ParseCalls   = parseCalls
	JMXURL       = jmxURL
)

const KeepAliveInterval = keepAliveInterval

// ShareOf is a shard's part of blockReport's work: DataNodes, files, replication.
func ShareOf(dataNodes, blocksPerReport, blocksPerFile, replication, shards, index int32) [5]int64 {
	n := &plan.NNThroughput{DataNodes: dataNodes, BlocksPerReport: blocksPerReport, BlocksPerFile: blocksPerFile}
	s := shareOf(n, replication, shards, index)
	return [5]int64{s.first, s.end, s.firstFile, s.endFile, int64(s.replication)}
}

// MarkerOf is a marker's name.
func MarkerOf(uid, run string) string { return markerOf(claimant{uid: uid, run: run}) }

// ParseMarker reads one.
func ParseMarker(name string) (uid, run string, ok bool) {
	c, ok := parseMarker(name)
	return c.uid, c.run, ok
}
