package nnthroughput

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/hadoop-bench/operator/runner/hadoop/namenode"
	"github.com/hadoop-bench/operator/runner/plan"
)

// reportFilesPerDir is upstream's, whatever filesPerDir is.
const reportFilesPerDir = 100

// maxRunLength bounds the text of runLength, in bytes: a report has no room for more.
const maxRunLength = 1024

// reportShare is what one shard of blockReport makes: the DataNodes [first, end) and the files [firstFile, endFile) of the
// whole, both numbered globally.
type reportShare struct {
	first, end         int64
	firstFile, endFile int64
	replication        int32 // of each file
}

// shareOf is a shard's part. With one shard it is upstream's whole; with more, the files are split like the DataNodes.
// A block cannot have more replicas than the smallest shard has DataNodes, since each shard's lie on its own.
func shareOf(n *plan.NNThroughput, replication int32, shards, index int32) reportShare {
	nodes := int64(n.DataNodes)
	share := reportShare{replication: int32(min(int64(replication), nodes/int64(shards)))}
	share.first, share.end = shardRange(nodes, int64(shards), int64(index))
	blocks := ceilDiv(int64(n.BlocksPerReport)*nodes, int64(share.replication))
	files := ceilDiv(blocks, int64(n.BlocksPerFile))
	share.firstFile, share.endFile = part(files, share.first, nodes), part(files, share.end, nodes)
	return share
}

func ceilDiv(a, b int64) int64 { return (a + b - 1) / b }

// part is total·k/n without overflow, for k ≤ n.
func part(total, k, n int64) int64 { return total/n*k + total%n*k/n }

// replicas are the entries of a DataNode's report: its blocks, and in the rest of its slots blocks that no file has, as
// upstream fills them: slot i of n has the id n-i.
func replicas(blocks []namenode.Block, slots int32) []namenode.Replica {
	list := make([]namenode.Replica, slots)
	for i := range list {
		if i < len(blocks) {
			b := blocks[i]
			list[i] = namenode.Replica{ID: int64(b.ID), GenerationStamp: int64(b.GenerationStamp), NumBytes: int64(b.NumBytes)}
		} else {
			list[i] = namenode.Replica{ID: int64(len(list) - i)}
		}
	}
	return list
}

// runLength is a list of numbers as text: equal ones in a row as value*count, "100*8,95" for example. It is empty if it
// would be longer than maxRunLength.
func runLength(numbers []int) string {
	var text strings.Builder
	for i := 0; i < len(numbers); {
		same := 1
		for i+same < len(numbers) && numbers[i+same] == numbers[i] {
			same++
		}
		if i > 0 {
			text.WriteByte(',')
		}
		text.WriteString(strconv.Itoa(numbers[i]))
		if same > 1 {
			text.WriteString("*" + strconv.Itoa(same))
		}
		i += same
		if text.Len() > maxRunLength {
			return ""
		}
	}
	return text.String()
}

// activeSide is which of the NameNodes is the active one; -1 if none says so. Old NameNodes do not say anything, which
// is an answer if there is only one.
func activeSide(spaces []namenode.Namespace) int {
	for i, space := range spaces {
		if space.State == "ACTIVE" || len(spaces) == 1 && cmp.Or(space.State, "ACTIVE") == "ACTIVE" {
			return i
		}
	}
	return -1
}
