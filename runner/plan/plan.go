// Package plan is what shards are told to do: one JSON document per attempt, the same for all its shards, mounted into
// each pod. It also names the files and annotations by which operator and pod meet. Operator and runner both import it.
package plan

import "github.com/hadoop-bench/operator/runner/report"

// Version is the version of the document. A runner refuses every other one by name.
const Version = 1

// Where a pod finds things, and where it leaves them.
const (
	Dir        = "/etc/hadoopbench/plan" // the plan's ConfigMap
	File       = Dir + "/plan.json"
	ConfDir    = "/etc/hadoopbench/conf" // the user's Hadoop configuration
	PodInfoDir = "/etc/hadoopbench/pod"  // downward API: re-read by path, it is replaced as a whole
	StartFile  = PodInfoDir + "/start-at"
	StopFile   = PodInfoDir + "/stop"
	RunDir     = "/run/hadoopbench" // emptyDir
	KeytabFile = "/etc/hadoopbench/keytab/keytab"
	Krb5File   = "/etc/hadoopbench/krb5/krb5.conf"
	WorkDir    = "/work"           // emptyDir for everything that the upstream tool writes
	ReadyFile  = RunDir + "/ready" // exists once the shard is prepared; the startup probe looks for it
	ReportFile = "/dev/termination-log"

	IndexEnv = "JOB_COMPLETION_INDEX" // set by Kubernetes in Indexed Jobs
	NodeEnv  = "HADOOPBENCH_NODE"     // name of the node, by the downward API

	// Container is the name of the container that runs the shard; sidecars are not looked at.
	Container = "runner"

	// AnnotationStartAt carries the start time, as TimeFormat.
	AnnotationStartAt = "hadoopbench.dev/start-at"
	// AnnotationReminder carries the start time once more. Nobody reads it: a change to the pod has the kubelet look at it again,
	// since it can overlook one that comes while it writes the pod's volumes, and then shows that only a minute later.
	AnnotationReminder = "hadoopbench.dev/start-reminder"
	// AnnotationStop carries the reason of a stop order, a CamelCase word.
	AnnotationStop = "hadoopbench.dev/stop"

	// TimeFormat is that of the start time: RFC 3339 in UTC with microseconds.
	TimeFormat = "2006-01-02T15:04:05.000000Z07:00"
)

// Steps that every kind has. The measured ones carry the tools' own words.
const (
	StepPreflight = "preflight"
	StepVerify    = "verify"
	StepCleanup   = "cleanup"
)

// Plan tells the shards of one attempt what to do.
type Plan struct {
	Version  int             `json:"version"`
	Identity report.Identity `json:"identity"`
	Run      string          `json:"run"`    // namespace/name, for people and markers
	Shards   int32           `json:"shards"` // pods of the attempt
	Gate     bool            `json:"gate"`   // wait for the start order before measuring

	// GateTimeoutMillis is how long a prepared shard waits for the start order before it gives up with ExitNeverBegan.
	GateTimeoutMillis int64 `json:"gateTimeoutMillis,omitempty"`
	// TimeoutMillis bounds the whole life of the shard; past it, it stops with ExitDeadline and a partial report.
	TimeoutMillis int64 `json:"timeoutMillis,omitempty"`
	// SeriesMicros is δ0, the width of the finest bucket of the rate series.
	SeriesMicros int64 `json:"seriesMicros,omitempty"`
	// Earlier are the facts that the attempt before told, in a step that goes on in slices; empty in its first attempt.
	Earlier map[string]string `json:"earlier,omitempty"`

	Target       Target        `json:"target"`
	DFSIO        *DFSIO        `json:"dfsio,omitempty"`
	NNThroughput *NNThroughput `json:"nnThroughput,omitempty"`
	YCSB         *YCSB         `json:"ycsb,omitempty"`
}

// Target is the cluster under test. The configuration files themselves are mounted at ConfDir.
type Target struct {
	FS         string            `json:"fs,omitempty"`         // overrides fs.defaultFS
	User       string            `json:"user,omitempty"`       // of simple authentication
	Properties map[string]string `json:"properties,omitempty"` // -D, over the files
	Kerberos   *Kerberos         `json:"kerberos,omitempty"`   // nil: simple authentication
}

// Kerberos is how a shard logs in.
type Kerberos struct {
	Principal string `json:"principal"`          // user@REALM
	Keytab    string `json:"keytab,omitempty"`   // file; empty: the ticket cache of the environment
	Krb5Conf  string `json:"krb5Conf,omitempty"` // file
}

// Tests of DFSIO a shard can run. The others are refused by name.
const (
	TestWrite = "write"
	TestRead  = "read"
	TestClean = "clean"
)

// DFSIO is the part of a plan that only DFSIO steps have. Shard i works on file i.
type DFSIO struct {
	Tests       []string `json:"tests"`   // all tests of the run: preflight prepares for them
	BaseDir     string   `json:"baseDir"` // data lies in <baseDir>/io_data/test_io_<i>
	NrFiles     int32    `json:"nrFiles"`
	Size        int64    `json:"size"`                  // bytes per file
	BufferSize  int64    `json:"bufferSize"`            // bytes per read or write call
	Replication int32    `json:"replication,omitempty"` // 0: as configured
	BlockSize   int64    `json:"blockSize,omitempty"`   // 0: as configured
	Pattern     string   `json:"pattern"`               // Random or Zero
	Seed        int64    `json:"seed"`
	Client      string   `json:"client"` // Colinmarc
}
