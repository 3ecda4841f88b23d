package v1alpha1_test

import (
	"reflect"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/hadoop-bench/operator/api/v1alpha1"
)

// sharedA and sharedB set every field that the kinds share, each to another value. A field that is missing here, or in
// the kind's own specs, fails TestSpecsCoverEveryField, so that no field escapes the tests that walk over them.
const sharedA = `
target:
  hadoopConfig: {configMapRef: {name: config-a}}
  fs: hdfs://a:8020
  properties: {a: "1"}
  user: a
  kerberos: {principal: a@EXAMPLE.COM, keytabSecretRef: {name: keytab-a}, krb5ConfigMapRef: {name: krb5-a}}
  tls: {caConfigMapRef: {name: ca-a}}
  http: {nameNodes: ["http://a:9870"], masters: ["http://a:16010"], regionServers: ["http://a:16030"]}
repeats: 2
repeatOrder: PerStep
warmup: 1s
minDuration: 1s
startDeadline: 1m
activeDeadline: 1h
shardFailurePolicy: Fail
suspend: false
ttlAfterFinished: 1h
thresholds: [{step: write, figure: P99, min: "1", max: "2"}]
baseline: {name: a, equivalenceMarginPercent: 4, allowDifferences: [nrFiles]}
successCriteria: Completed
keepResults: false
maxStartSpread: 1s
engine: Native
client: Colinmarc
rerun: first
podTemplate:
  labels: {a: "1"}
  annotations: {a: "1"}
  image: registry.example.com/runner:a
  imagePullPolicy: Always
  imagePullSecrets: [{name: a}]
  resources: {requests: {cpu: "1"}}
  nodeSelector: {a: "1"}
  tolerations: [{key: a, operator: Exists}]
  affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: a, operator: Exists}]}]}}}
  topologySpreadConstraints: [{maxSkew: 1, topologyKey: a, whenUnsatisfiable: ScheduleAnyway}]
  priorityClassName: a
  serviceAccountName: a
  volumes: [{name: a, configMap: {name: a}}]
  volumeMounts: [{name: a, mountPath: /a}]
  env: [{name: A, valueFrom: {configMapKeyRef: {name: a, key: a}}}]
  securityContext: {runAsUser: 1000}
`

const sharedB = `
target:
  hadoopConfig: {configMapRef: {name: config-b}}
  fs: hdfs://b:8020
  properties: {a: "2"}
  user: b
  kerberos: {principal: b@EXAMPLE.COM, keytabSecretRef: {name: keytab-b}, krb5ConfigMapRef: {name: krb5-b}}
  tls: {caConfigMapRef: {name: ca-b}}
  http: {nameNodes: ["http://b:9870"], masters: ["http://b:16010"], regionServers: ["http://b:16030"]}
repeats: 3
repeatOrder: RoundRobin
warmup: 2s
minDuration: 2s
startDeadline: 2m
activeDeadline: 2h
shardFailurePolicy: Retry
suspend: true
ttlAfterFinished: 2h
thresholds: [{step: read, figure: P90, min: "2", max: "3"}]
baseline: {name: b, equivalenceMarginPercent: 5, allowDifferences: [size]}
successCriteria: Valid
keepResults: true
maxStartSpread: 2s
engine: Upstream
client: Native
rerun: second
podTemplate:
  labels: {a: "2"}
  annotations: {a: "2"}
  image: registry.example.com/runner:b
  imagePullPolicy: Never
  imagePullSecrets: [{name: b}]
  resources: {requests: {cpu: "2"}}
  nodeSelector: {a: "2"}
  tolerations: [{key: b, operator: Exists}]
  affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: b, operator: Exists}]}]}}}
  topologySpreadConstraints: [{maxSkew: 2, topologyKey: a, whenUnsatisfiable: ScheduleAnyway}]
  priorityClassName: b
  serviceAccountName: b
  volumes: [{name: a, configMap: {name: b}}]
  volumeMounts: [{name: a, mountPath: /b}]
  env: [{name: A, valueFrom: {configMapKeyRef: {name: b, key: a}}}]
  securityContext: {runAsUser: 1001}
`

const dfsioA = `
tests: [write, skipRead]
nrFiles: 4
size: 1GB
bufferSize: 4096
skipSize: 1MB
parallelism: 2
compression: a
replication: 1
blockSize: 1MB
storagePolicy: HOT
erasureCodingPolicy: RS-6-3-1024k
baseDir: /a
data: {pattern: Random, seed: 1, compressRatioPercent: 50}
verify: false
sync: None
upstreamCompatible: false
`

const dfsioB = `
tests: [write, skipRead, clean]
nrFiles: 5
size: 2GB
bufferSize: 8192
skipSize: 2MB
parallelism: 3
compression: b
replication: 2
blockSize: 2MB
storagePolicy: COLD
erasureCodingPolicy: XOR-2-1-1024k
baseDir: /b
data: {pattern: Zero, seed: 2, compressRatioPercent: 60}
verify: true
sync: HSync
upstreamCompatible: true
`

const nnThroughputA = `
operations: [create, open]
threads: 4
shards: 2
connectionsPerShard: 1
files: 100
dirs: 100
filesPerDir: 4
dirsPerDir: 2
close: false
useExisting: false
appendNewBlk: false
datanodes: 10
reports: 30
blocksPerReport: 100
blocksPerFile: 10
nodesToDecommission: 1
nodeReplicationLimit: 100
totalBlocks: 100
replication: 1
baseDirName: /a
baseDirNames: [/a]
blockSize: 1m
logLevel: ERROR
ugCacheRefreshCount: 1
nonSuperUser: true
manageSafeMode: false
allowFakeDataNodes: false
rate: "100"
duration: 1m
`

const nnThroughputB = `
operations: [mkdirs, fileStatus, clean]
threads: 5
shards: 3
connectionsPerShard: 2
files: 200
dirs: 200
filesPerDir: 5
dirsPerDir: 3
close: true
useExisting: true
appendNewBlk: true
datanodes: 11
reports: 31
blocksPerReport: 101
blocksPerFile: 11
nodesToDecommission: 2
nodeReplicationLimit: 101
totalBlocks: 101
replication: 2
baseDirName: /b
baseDirNames: [/b, /c]
blockSize: "1048576"
logLevel: TRACE
ugCacheRefreshCount: 2
nonSuperUser: false
manageSafeMode: true
allowFakeDataNodes: true
rate: "0.125"
duration: 2m
`

const ycsbA = `
table: {name: a, columnFamily: a, regions: 1, createPolicy: Create, dropAfter: false, compression: None, values: {a: "1"}}
recordCount: 1000
useExisting: false
load: {shards: 1, threads: 1, target: "1", majorCompact: false, waitForCompaction: true, settleTime: 1s, compactionDeadline: 1h}
workloads:
- {name: a, preset: A, operationCount: 1000, duration: 1m, repeats: 1, target: "1", warmup: 1s, readProportion: "0.5", updateProportion: "0.5", insertProportion: "0.5", scanProportion: "0.5", readModifyWriteProportion: "0.5", requestDistribution: zipfian, minScanLength: 1, maxScanLength: 1, scanLengthDistribution: uniform, hotspotDataFraction: "0.1", hotspotOpnFraction: "0.1", exponentialPercentile: "95", exponentialFrac: "0.5"}
threads: 4
shards: 2
connectionsPerShard: 1
rest: 1s
fieldCount: 1
fieldLength: 1
minFieldLength: 1
fieldLengthDistribution: constant
fieldNamePrefix: a
readAllFields: true
readAllFieldsByName: false
writeAllFields: false
dataIntegrity: false
insertOrder: hashed
zeroPadding: 1
insertionRetryLimit: 0
insertionRetryInterval: 1s
durability: UseDefault
clientBuffering: false
writeBufferSize: 1
usePageFilter: true
zipfianScrambling: YCSB
seed: 1
properties: {a: "1"}
`

const ycsbB = `
table: {name: "b:b", columnFamily: b, regions: 2, createPolicy: Never, dropAfter: true, compression: ZSTD, values: {a: "2"}}
recordCount: 10000000000
useExisting: true
load: {shards: 2, threads: 2, target: "2.5", majorCompact: true, waitForCompaction: false, settleTime: 2s, compactionDeadline: 2h}
workloads:
- {preset: UpdateOnly, duration: 1m}
threads: 5
shards: 3
connectionsPerShard: 2
rest: 2s
fieldCount: 2
fieldLength: 2
minFieldLength: 2
fieldLengthDistribution: zipfian
fieldNamePrefix: b
readAllFields: false
readAllFieldsByName: true
writeAllFields: true
dataIntegrity: true
insertOrder: ordered
zeroPadding: 2
insertionRetryLimit: 1
insertionRetryInterval: 2s
durability: SkipWAL
clientBuffering: true
writeBufferSize: 2
usePageFilter: false
zipfianScrambling: Exact
seed: 2
properties: {a: "2"}
`

// field is a field of the spec, found in the Go types.
type field struct {
	path     []string
	optional bool
}

func (f field) String() string { return strings.Join(f.path, ".") }

// specFields walks the Go type of the spec: every field of its own, and every field below it as far as the types are
// of this package. Lists, maps and the core types count as one value.
func (k kind) specFields() []field { return structFields(k.spec, nil) }

func structFields(t reflect.Type, parent []string) []field {
	var fields []field
	for sf := range t.Fields() {
		name, options, _ := strings.Cut(sf.Tag.Get("json"), ",")
		if options == "inline" {
			fields = append(fields, structFields(sf.Type, parent)...)
			continue
		}
		path := append(append([]string{}, parent...), name)
		fields = append(fields, field{path: path, optional: strings.Contains(options, "omitempty")})
		ft := sf.Type
		if ft.Kind() == reflect.Pointer {
			ft = ft.Elem()
		}
		if ft.Kind() == reflect.Struct && ft.PkgPath() == t.PkgPath() && ft != reflect.TypeFor[v1alpha1.Duration]() {
			fields = append(fields, structFields(ft, path)...)
		}
	}
	return fields
}

func get(t *testing.T, spec map[string]any, f field) (any, bool) {
	t.Helper()
	value, ok, err := unstructured.NestedFieldNoCopy(spec, f.path...)
	if err != nil {
		t.Fatal(err)
	}
	return value, ok
}

// with returns the spec with a field set to a value.
func with(t *testing.T, spec map[string]any, value any, path ...string) map[string]any {
	t.Helper()
	changed := runtime.DeepCopyJSON(spec)
	if err := unstructured.SetNestedField(changed, runtime.DeepCopyJSONValue(value), path...); err != nil {
		t.Fatal(err)
	}
	return changed
}

// without returns the spec without a field.
func without(spec map[string]any, path ...string) map[string]any {
	changed := runtime.DeepCopyJSON(spec)
	unstructured.RemoveNestedField(changed, path...)
	return changed
}

func TestSpecsCoverEveryField(t *testing.T) {
	forKinds(t, func(t *testing.T, k kind) {
		a, b := k.full(t)
		fields := k.specFields()
		if len(fields) < 60 {
			t.Errorf("the walk over the Go types found %d fields, want at least 60", len(fields))
		}
		for _, f := range fields {
			valueA, okA := get(t, a, f)
			valueB, okB := get(t, b, f)
			switch {
			case !okA || !okB:
				t.Errorf("spec.%s is not in both full specs: add it, so that the tests over all fields cover it", f)
			case reflect.DeepEqual(valueA, valueB):
				t.Errorf("spec.%s is %v in both full specs, want two values", f, valueA)
			}
		}
	})
}
