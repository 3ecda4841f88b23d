package report

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
)

// NNThroughputInputs are the inputs that NNThroughputBenchmark prints above an operation's figures. Each operation has some
// of them.
type NNThroughputInputs struct {
	// BaseDir is the operation's directory; of clean the one that was removed. Versions before 3.4 do not print it for
	// the other operations, and it is empty then.
	BaseDir string

	// Of create, open, delete, append, fileStatus and rename; for mkdirs these are directories.
	Files, Threads, FilesPerDir int64

	// Of blockReport; of replication only the DataNodes and their blocks.
	Reports, DataNodes, BlocksPerReport, BlocksPerFile int64
	// BlocksOfDataNodes is how many real blocks each DataNode has; empty if that is not known.
	BlocksOfDataNodes []int64

	// Of replication.
	RequiredOperations, Decommissioned, NodeReplicationLimit, TotalBlocks int64
}

// NNThroughput is one operation's report by NNThroughputBenchmark.
type NNThroughput struct {
	Operation string // as in a plan
	Inputs    NNThroughputInputs

	Operations    int64 // that were carried out
	ElapsedMillis int64
	AverageMillis int64 // of one operation, rounded down

	// Of replication.
	DecommissionedBlocks, PendingReplications int64
}

// OpsPerSec is "Ops per sec".
func (t *NNThroughput) OpsPerSec() float64 { return upstreamOpsPerSec(t.Operations, t.ElapsedMillis) }

func upstreamOpsPerSec(operations, elapsedMillis int64) float64 {
	if elapsedMillis == 0 {
		return 0
	}
	return 1000 * float64(operations) / float64(elapsedMillis)
}

// elapsedMillis is the time from the first shard's start to the last one's end, as a clock of whole milliseconds shows it.
func elapsedMillis(m *Merged) int64 { return wholeMillis(m.Times.FirstStart, m.Times.LastEnd) }

// NNThroughputOf makes the report of a merged measurement of an operation. Only successes count; the original counts a
// call that answered false as one, and never ends if a call fails. The blocks of the DataNodes, for blockReport and
// replication, are those that the shards' reports tell under FactBlocksPerDataNode. Where the original tool was run, the
// figures that it printed are taken from the facts.
func NNThroughputOf(operation string, inputs NNThroughputInputs, in MergeInput, m *Merged) (NNThroughput, error) {
	shards, err := inOrder(in)
	if err != nil {
		return NNThroughput{}, fmt.Errorf("making NNThroughputBenchmark's figures: %w", err)
	}
	t := NNThroughput{Operation: operation, Inputs: inputs, Operations: m.Operations}
	if m.Times.FirstStart > 0 {
		t.ElapsedMillis = elapsedMillis(m)
	}
	if m.Operations > 0 && m.Histogram != nil {
		const nanosPerMilli = 1_000_000
		t.AverageMillis = m.Histogram.Sum() / nanosPerMilli / m.Operations
	}
	if operation == opBlockReport || operation == opReplication {
		t.Inputs.BlocksOfDataNodes = blocksOf(shards, inputs.DataNodes)
	}
	for _, s := range shards {
		t.takePrinted(s.Body.Facts)
	}
	return t, nil
}

// FactBlocksPerDataNode is the fact by which a shard of blockReport or replication tells how many real blocks its
// DataNodes have, in their order: "100*8,95" for eight with 100 and one with 95.
const FactBlocksPerDataNode = "blocksPerDataNode"

// FactFailovers is the fact by which a shard tells how often it turned to another NameNode while it measured; absent if it
// did not.
const FactFailovers = "failovers"

// Facts by which the shard of the original tool tells what that printed and a body has no field for; decimal numbers.
const (
	FactAverageMillis        = "averageMillis"
	FactRequiredOperations   = "requiredOperations"
	FactDecommissionedBlocks = "decommissionedBlocks"
	FactPendingReplications  = "pendingReplications"
)

// takePrinted fills in what a shard's facts tell of what the original tool printed.
func (t *NNThroughput) takePrinted(facts map[string]string) {
	for fact, figure := range map[string]*int64{
		FactAverageMillis: &t.AverageMillis, FactRequiredOperations: &t.Inputs.RequiredOperations,
		FactDecommissionedBlocks: &t.DecommissionedBlocks, FactPendingReplications: &t.PendingReplications,
	} {
		if n, err := strconv.ParseInt(facts[fact], 10, 64); err == nil && n >= 0 {
			*figure = n
		}
	}
}

// blocksOf joins the shards' facts; nil if they do not tell of every DataNode.
func blocksOf(shards []shard, dataNodes int64) []int64 {
	var blocks []int64
	for _, s := range shards {
		for part := range strings.SplitSeq(s.Body.Facts[FactBlocksPerDataNode], ",") {
			text, times, repeated := strings.Cut(part, "*")
			n, err := strconv.ParseInt(text, 10, 64)
			count := int64(1)
			if repeated && err == nil {
				count, err = strconv.ParseInt(times, 10, 64)
			}
			if err != nil || n < 0 || count < 1 || count > dataNodes-int64(len(blocks)) {
				return nil
			}
			for range count {
				blocks = append(blocks, n)
			}
		}
	}
	if int64(len(blocks)) != dataNodes {
		return nil
	}
	return blocks
}

// Operations whose reports differ from the others'.
const (
	opMkdirs      = "mkdirs"
	opBlockReport = "blockReport"
	opReplication = "replication"
	opClean       = "clean"
)

// isNNThroughput tells the operations that have a report.
func isNNThroughput(operation string) bool {
	switch operation {
	case "create", "open", "delete", "append", "fileStatus", "rename", opMkdirs, opBlockReport, opReplication, opClean:
		return true
	}
	return false
}

// RenderNNThroughput writes an operation's report exactly as NNThroughputBenchmark of Hadoop 3.5.0 logs it, without the
// logger's prefix: an empty line, the inputs, the figures.
func RenderNNThroughput(w io.Writer, t NNThroughput) error {
	if !isNNThroughput(t.Operation) {
		return fmt.Errorf("rendering NNThroughputBenchmark's report: it has none for operation %q", t.Operation)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "\n--- %s inputs ---\n", t.Operation)
	writeInputs(&b, &t)
	fmt.Fprintf(&b, "--- %s stats  ---\n", t.Operation)
	fmt.Fprintf(&b, "# operations: %d\nElapsed Time: %d\n Ops per sec: %s\nAverage Time: %d\n",
		t.Operations, t.ElapsedMillis, javaDouble(t.OpsPerSec()), t.AverageMillis)
	if t.Operation == opReplication {
		fmt.Fprintf(&b, "decommissioned blocks = %d\npending replications = %d\nreplications per sec: %s\n",
			t.DecommissionedBlocks, t.PendingReplications, javaDouble(upstreamOpsPerSec(t.PendingReplications, t.ElapsedMillis)))
	}
	if _, err := io.WriteString(w, b.String()); err != nil {
		return fmt.Errorf("writing NNThroughputBenchmark's report: %w", err)
	}
	return nil
}

func writeInputs(b *strings.Builder, t *NNThroughput) {
	in := &t.Inputs
	if t.Operation == opClean {
		fmt.Fprintf(b, "Remove directory %s\n", in.BaseDir)
		return
	}
	if in.BaseDir != "" {
		fmt.Fprintf(b, "baseDir = %s\n", in.BaseDir)
	}
	switch t.Operation {
	case opBlockReport:
		fmt.Fprintf(b, "reports = %d\ndatanodes = %s\nblocksPerReport = %d\nblocksPerFile = %d\n",
			in.Reports, dataNodes(in), in.BlocksPerReport, in.BlocksPerFile)
	case opReplication:
		fmt.Fprintf(b, "numOpsRequired = %d\ndatanodes = %s\ndecommissioned datanodes = %d\ndatanode replication limit = %d\ntotal blocks = %d\n",
			in.RequiredOperations, dataNodes(in), in.Decommissioned, in.NodeReplicationLimit, in.TotalBlocks)
	case opMkdirs:
		fmt.Fprintf(b, "nrDirs = %d\nnrThreads = %d\nnrDirsPerDir = %d\n", in.Files, in.Threads, in.FilesPerDir)
	default:
		fmt.Fprintf(b, "nrFiles = %d\nnrThreads = %d\nnrFilesPerDir = %d\n", in.Files, in.Threads, in.FilesPerDir)
	}
}

// unknownBlocks stands in the list of blocks where it is not known.
const unknownBlocks = "unknown"

func dataNodes(in *NNThroughputInputs) string {
	blocks := make([]string, len(in.BlocksOfDataNodes))
	for i, n := range in.BlocksOfDataNodes {
		blocks[i] = strconv.FormatInt(n, 10)
	}
	list := strings.Join(blocks, ", ")
	if len(blocks) == 0 {
		list = unknownBlocks
	}
	return fmt.Sprintf("%d (%s)", in.DataNodes, list)
}

// javaDouble is Double.toString(v): the shortest digits that tell v from its neighbours, at least one after the point; a
// power of ten from 10^7 on and below 10^-3.
func javaDouble(v float64) string {
	switch {
	case math.IsNaN(v):
		return "NaN"
	case math.IsInf(v, 0):
		return strings.TrimPrefix(strconv.FormatFloat(v, 'f', -1, 64)[:1], "+") + "Infinity"
	case v == 0:
		if math.Signbit(v) {
			return "-0.0"
		}
		return "0.0"
	}
	if a := math.Abs(v); a >= 1e-3 && a < 1e7 {
		text := strconv.FormatFloat(v, 'f', -1, 64)
		if !strings.Contains(text, ".") {
			text += ".0"
		}
		return text
	}
	mantissa, exponent, _ := strings.Cut(strconv.FormatFloat(v, 'e', -1, 64), "e")
	if !strings.Contains(mantissa, ".") {
		mantissa, exponent = twoDigits(v)
	}
	power, _ := strconv.Atoi(exponent)
	return mantissa + "E" + strconv.Itoa(power)
}

// twoDigits is a number that one digit can tell, in two: Java takes the closest with two if these tell it as well.
func twoDigits(v float64) (mantissa, exponent string) {
	mantissa, exponent, _ = strings.Cut(strconv.FormatFloat(v, 'e', 1, 64), "e")
	return mantissa, exponent
}
