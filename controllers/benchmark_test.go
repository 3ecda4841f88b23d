package controllers

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hadoop-bench/operator/api/v1alpha1"
	"github.com/hadoop-bench/operator/controllers/jobs"
	"github.com/hadoop-bench/operator/runner/plan"
	"github.com/hadoop-bench/operator/runner/report"
)

// specField says what a field of the spec does: it is refused with a reason, it says what is so anyway, or it has an
// effect.
type specField struct {
	prepare func(Run) // what the field needs beside it; may be nil
	set     func(Run)
	refused string
	same    bool
}

// kindFields are a kind and what each JSON field of its spec does. An entry covers the fields below it.
type kindFields struct {
	bench  Benchmark
	base   func() Run // with two repeats
	step   string     // a measured one of two shards
	report func(report.Identity, int32, time.Time) *report.Report
	fields map[string]specField
}

func allKinds() map[string]kindFields {
	return map[string]kindFields{
		"DFSIORun": {
			DFSIO{},
			func() Run { return newRun(func(r *v1alpha1.DFSIORun) { r.Spec.Repeats = ptr(int32(2)) }) }, "write", completeReport,
			together(sharedFields(), dfsioFields()),
		},
		"NNThroughputRun": {
			NNThroughput{},
			func() Run {
				return newNNThroughputRun(func(r *v1alpha1.NNThroughputRun) { r.Spec.Repeats = ptr(int32(2)) })
			}, "create", operationsReport,
			together(sharedFields(), nnThroughputFields()),
		},
		"YCSBRun": {
			YCSB{},
			func() Run {
				return newYCSBRun(func(r *v1alpha1.YCSBRun) { r.Spec.Repeats = ptr(int32(2)) })
			}, "workload-a", mixedReport,
			together(sharedFields(), ycsbFields()),
		},
	}
}

func together(shared, own map[string]specField) map[string]specField {
	maps.Copy(shared, own)
	return shared
}

func effect(set func(*v1alpha1.RunSpec)) specField {
	return specField{set: func(run Run) { spec, _ := run.RunObject(); set(spec) }}
}

func refused(set func(*v1alpha1.RunSpec)) specField {
	f := effect(set)
	f.refused = v1alpha1.ReasonNotSupported
	return f
}

// impossible is what the kind has no use for.
func impossible(set func(Run)) specField {
	return specField{set: set, refused: v1alpha1.ReasonInvalidSpec}
}

func inTemplate(set func(*v1alpha1.PodTemplate)) specField {
	return effect(func(s *v1alpha1.RunSpec) { s.PodTemplate = &v1alpha1.PodTemplate{}; set(s.PodTemplate) })
}

// sharedFields has the fields that mean the same for every kind.
func sharedFields() map[string]specField {
	return map[string]specField{
		"target.hadoopConfig.configMapRef.name": effect(func(s *v1alpha1.RunSpec) {
			s.Target.HadoopConfig = &v1alpha1.HadoopConfig{ConfigMapRef: v1alpha1.LocalObjectReference{Name: "hdfs"}}
		}),
		"target.fs": effect(func(s *v1alpha1.RunSpec) { s.Target.FS = "hdfs://other:8020" }),
		"target.properties": effect(func(s *v1alpha1.RunSpec) {
			s.Target.Properties = map[string]v1alpha1.PropertyValue{"dfs.client.x": "1"}
		}),
		"target.user": effect(func(s *v1alpha1.RunSpec) { s.Target.User = "hdfs" }),
		"target.tls":  refused(func(s *v1alpha1.RunSpec) { s.Target.TLS = &v1alpha1.TLS{} }),

		"repeats":            effect(func(s *v1alpha1.RunSpec) { s.Repeats = ptr(int32(5)) }),
		"repeatOrder":        effect(func(s *v1alpha1.RunSpec) { s.RepeatOrder = v1alpha1.RepeatRoundRobin }),
		"minDuration":        effect(func(s *v1alpha1.RunSpec) { s.MinDuration = duration(time.Hour) }),
		"startDeadline":      effect(func(s *v1alpha1.RunSpec) { s.StartDeadline = duration(time.Minute) }),
		"activeDeadline":     effect(func(s *v1alpha1.RunSpec) { s.ActiveDeadline = duration(time.Minute) }),
		"shardFailurePolicy": refused(func(s *v1alpha1.RunSpec) { s.ShardFailurePolicy = v1alpha1.ShardFailureRetry }),
		"suspend":            effect(func(s *v1alpha1.RunSpec) { s.Suspend = ptr(true) }),
		"ttlAfterFinished":   refused(func(s *v1alpha1.RunSpec) { s.TTLAfterFinished = duration(time.Hour) }),
		"thresholds":         refused(func(s *v1alpha1.RunSpec) { s.Thresholds = []v1alpha1.Threshold{{}} }),
		"baseline":           refused(func(s *v1alpha1.RunSpec) { s.Baseline = &v1alpha1.Baseline{} }),
		"successCriteria":    effect(func(s *v1alpha1.RunSpec) { s.SuccessCriteria = v1alpha1.SuccessValid }),
		"keepResults":        effect(func(s *v1alpha1.RunSpec) { s.KeepResults = ptr(true) }),
		"maxStartSpread":     effect(func(s *v1alpha1.RunSpec) { s.MaxStartSpread = duration(time.Microsecond) }),
		// Changed in an execution it ends it; changed after it, the run says that a second one is not supported.
		"rerun": effect(func(s *v1alpha1.RunSpec) { s.Rerun = "again" }),

		"podTemplate.labels":          inTemplate(func(p *v1alpha1.PodTemplate) { p.Labels = map[string]v1alpha1.LabelValue{"a": "b"} }),
		"podTemplate.annotations":     inTemplate(func(p *v1alpha1.PodTemplate) { p.Annotations = map[string]v1alpha1.AnnotationValue{"a": "b"} }),
		"podTemplate.image":           inTemplate(func(p *v1alpha1.PodTemplate) { p.Image = "other" }),
		"podTemplate.imagePullPolicy": inTemplate(func(p *v1alpha1.PodTemplate) { p.ImagePullPolicy = corev1.PullAlways }),
		"podTemplate.imagePullSecrets": inTemplate(func(p *v1alpha1.PodTemplate) {
			p.ImagePullSecrets = []v1alpha1.LocalObjectReference{{Name: "registry"}}
		}),
		"podTemplate.resources": inTemplate(func(p *v1alpha1.PodTemplate) {
			p.Resources = &corev1.ResourceRequirements{Limits: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("2")}}
		}),
		"podTemplate.nodeSelector": inTemplate(func(p *v1alpha1.PodTemplate) { p.NodeSelector = map[string]v1alpha1.LabelValue{"a": "b"} }),
		"podTemplate.tolerations":  inTemplate(func(p *v1alpha1.PodTemplate) { p.Tolerations = []corev1.Toleration{{Key: "a"}} }),
		"podTemplate.affinity":     inTemplate(func(p *v1alpha1.PodTemplate) { p.Affinity = &corev1.Affinity{} }),
		"podTemplate.topologySpreadConstraints": inTemplate(func(p *v1alpha1.PodTemplate) {
			p.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{TopologyKey: "rack"}}
		}),
		"podTemplate.priorityClassName":  inTemplate(func(p *v1alpha1.PodTemplate) { p.PriorityClassName = "high" }),
		"podTemplate.serviceAccountName": inTemplate(func(p *v1alpha1.PodTemplate) { p.ServiceAccountName = "bench" }),
		"podTemplate.volumes":            inTemplate(func(p *v1alpha1.PodTemplate) { p.Volumes = []corev1.Volume{{Name: "a"}} }),
		"podTemplate.volumeMounts":       inTemplate(func(p *v1alpha1.PodTemplate) { p.VolumeMounts = []corev1.VolumeMount{{Name: "a"}} }),
		"podTemplate.env":                inTemplate(func(p *v1alpha1.PodTemplate) { p.Env = []corev1.EnvVar{{Name: "A"}} }),
		"podTemplate.securityContext": inTemplate(func(p *v1alpha1.PodTemplate) {
			p.SecurityContext = &corev1.PodSecurityContext{RunAsUser: ptr(int64(7))}
		}),
	}
}

// dfsioFields has the others of a DFSIORun's spec.
func dfsioFields() map[string]specField {
	dfsio := func(set func(*v1alpha1.DFSIORunSpec)) specField {
		return specField{set: func(run Run) { set(dfsioSpec(run)) }}
	}
	notDFSIO := func(set func(*v1alpha1.DFSIORunSpec)) specField {
		return specField{set: func(run Run) { set(dfsioSpec(run)) }, refused: v1alpha1.ReasonNotSupported}
	}
	return map[string]specField{
		"target.kerberos":     refused(func(s *v1alpha1.RunSpec) { s.Target.Kerberos = &v1alpha1.Kerberos{} }),
		"target.http":         refused(func(s *v1alpha1.RunSpec) { s.Target.HTTP = &v1alpha1.HTTPAddresses{} }),
		"warmup":              refused(func(s *v1alpha1.RunSpec) { s.Warmup = duration(time.Second) }),
		"engine":              refused(func(s *v1alpha1.RunSpec) { s.Engine = v1alpha1.EngineUpstream }),
		"client":              refused(func(s *v1alpha1.RunSpec) { s.Client = v1alpha1.ClientNative }),
		"tests":               dfsio(func(s *v1alpha1.DFSIORunSpec) { s.Tests = s.Tests[:1] }),
		"nrFiles":             dfsio(func(s *v1alpha1.DFSIORunSpec) { s.NrFiles = ptr(int32(3)) }),
		"size":                dfsio(func(s *v1alpha1.DFSIORunSpec) { s.Size = "2GB" }),
		"bufferSize":          dfsio(func(s *v1alpha1.DFSIORunSpec) { s.BufferSize = ptr(int32(512)) }),
		"skipSize":            notDFSIO(func(s *v1alpha1.DFSIORunSpec) { s.SkipSize = "1MB" }),
		"parallelism":         notDFSIO(func(s *v1alpha1.DFSIORunSpec) { s.Parallelism = ptr(int32(1)) }),
		"compression":         notDFSIO(func(s *v1alpha1.DFSIORunSpec) { s.Compression = "gzip" }),
		"replication":         dfsio(func(s *v1alpha1.DFSIORunSpec) { s.Replication = ptr(int32(2)) }),
		"blockSize":           dfsio(func(s *v1alpha1.DFSIORunSpec) { s.BlockSize = "1MB" }),
		"storagePolicy":       notDFSIO(func(s *v1alpha1.DFSIORunSpec) { s.StoragePolicy = "HOT" }),
		"erasureCodingPolicy": notDFSIO(func(s *v1alpha1.DFSIORunSpec) { s.ErasureCodingPolicy = "RS-6-3-1024k" }),
		"baseDir":             dfsio(func(s *v1alpha1.DFSIORunSpec) { s.BaseDir = "/other" }),
		"data.pattern":        dfsio(func(s *v1alpha1.DFSIORunSpec) { s.Data = &v1alpha1.DFSIOData{Pattern: v1alpha1.PatternZero} }),
		"data.seed":           dfsio(func(s *v1alpha1.DFSIORunSpec) { s.Data = &v1alpha1.DFSIOData{Seed: ptr(int64(7))} }),
		"data.compressRatioPercent": notDFSIO(func(s *v1alpha1.DFSIORunSpec) {
			s.Data = &v1alpha1.DFSIOData{CompressRatioPercent: ptr(int32(50))}
		}),
		"verify":             dfsio(func(s *v1alpha1.DFSIORunSpec) { s.Verify = ptr(true) }),
		"sync":               notDFSIO(func(s *v1alpha1.DFSIORunSpec) { s.Sync = v1alpha1.SyncHSync }),
		"upstreamCompatible": notDFSIO(func(s *v1alpha1.DFSIORunSpec) { s.UpstreamCompatible = ptr(true) }),
	}
}

// nnThroughputFields has the others of an NNThroughputRun's spec.
func nnThroughputFields() map[string]specField {
	type spec = v1alpha1.NNThroughputRunSpec
	set := func(set func(*spec)) specField { return specField{set: func(run Run) { set(nntSpec(run)) }} }
	with := func(f specField, prepare func(*spec)) specField {
		f.prepare = func(run Run) { prepare(nntSpec(run)) }
		return f
	}
	ops := func(ops ...v1alpha1.NNThroughputOperation) func(*spec) {
		return func(s *spec) { s.Operations, s.AllowFakeDataNodes = ops, ptr(true) }
	}
	upstream := func(ops ...v1alpha1.NNThroughputOperation) func(*spec) {
		return func(s *spec) {
			s.Engine, s.PodTemplate, s.Shards, s.Target.FS = v1alpha1.EngineUpstream, &v1alpha1.PodTemplate{Image: "hadoop"}, nil, "file:///"
			s.Operations = ops
		}
	}
	return map[string]specField{
		"target.kerberos.principal": set(func(s *spec) { s.Target.Kerberos = &v1alpha1.Kerberos{Principal: "bench@EXAMPLE.COM"} }),
		"target.kerberos.keytabSecretRef": with(set(func(s *spec) { s.Target.Kerberos.KeytabSecretRef.Name = "keytab" }), func(s *spec) {
			s.Target.Kerberos = &v1alpha1.Kerberos{Principal: "bench@EXAMPLE.COM"}
		}),
		"target.kerberos.krb5ConfigMapRef": with(set(func(s *spec) { s.Target.Kerberos.Krb5ConfigMapRef.Name = "krb5" }), func(s *spec) {
			s.Target.Kerberos = &v1alpha1.Kerberos{Principal: "bench@EXAMPLE.COM"}
		}),
		"target.http.nameNodes": set(func(s *spec) { s.Target.HTTP = &v1alpha1.HTTPAddresses{NameNodes: []string{"http://namenode:9870"}} }),
		"target.http.masters": impossible(func(run Run) {
			nntSpec(run).Target.HTTP = &v1alpha1.HTTPAddresses{Masters: []string{"http://master:16010"}}
		}),
		"target.http.regionServers": impossible(func(run Run) {
			nntSpec(run).Target.HTTP = &v1alpha1.HTTPAddresses{RegionServers: []string{"http://regionserver:16030"}}
		}),
		"warmup": set(func(s *spec) { s.Warmup = duration(time.Second) }),
		"engine": with(set(func(s *spec) { s.Engine = v1alpha1.EngineUpstream }), func(s *spec) {
			s.PodTemplate, s.Shards = &v1alpha1.PodTemplate{Image: "hadoop"}, nil
		}),
		"client": {set: func(run Run) { nntSpec(run).Client = v1alpha1.ClientColinmarc }, refused: v1alpha1.ReasonNotSupported},

		"operations":           set(func(s *spec) { s.Operations = s.Operations[:1] }),
		"threads":              set(func(s *spec) { s.Threads = ptr(int32(7)) }),
		"shards":               set(func(s *spec) { s.Shards = ptr(int32(3)) }),
		"connectionsPerShard":  set(func(s *spec) { s.ConnectionsPerShard = ptr(int32(2)) }),
		"files":                set(func(s *spec) { s.Files = ptr(int64(100)) }),
		"filesPerDir":          set(func(s *spec) { s.FilesPerDir = ptr(int32(8)) }),
		"dirs":                 with(set(func(s *spec) { s.Dirs = ptr(int64(100)) }), ops("mkdirs")),
		"dirsPerDir":           with(set(func(s *spec) { s.DirsPerDir = ptr(int32(8)) }), ops("mkdirs")),
		"close":                set(func(s *spec) { s.Close = ptr(true) }),
		"useExisting":          with(set(func(s *spec) { s.UseExisting = ptr(true) }), ops("open")),
		"appendNewBlk":         with(set(func(s *spec) { s.AppendNewBlk = ptr(true) }), ops("append")),
		"datanodes":            with(set(func(s *spec) { s.DataNodes = ptr(int32(7)) }), ops("blockReport")),
		"reports":              with(set(func(s *spec) { s.Reports = ptr(int64(7)) }), ops("blockReport")),
		"blocksPerReport":      with(set(func(s *spec) { s.BlocksPerReport = ptr(int32(7)) }), ops("blockReport")),
		"blocksPerFile":        with(set(func(s *spec) { s.BlocksPerFile = ptr(int32(7)) }), ops("blockReport")),
		"nodesToDecommission":  with(set(func(s *spec) { s.NodesToDecommission = ptr(int32(2)) }), upstream("replication")),
		"nodeReplicationLimit": with(set(func(s *spec) { s.NodeReplicationLimit = ptr(int32(2)) }), upstream("replication")),
		"totalBlocks":          with(set(func(s *spec) { s.TotalBlocks = ptr(int32(2)) }), upstream("replication")),
		"replication":          set(func(s *spec) { s.Replication = ptr(int32(2)) }),
		"baseDirName":          set(func(s *spec) { s.BaseDirName = "/other" }),
		"baseDirNames":         set(func(s *spec) { s.BaseDirNames = []string{"/a", "/b"} }),
		"blockSize":            set(func(s *spec) { s.BlockSize = "16" }),
		"logLevel":             with(set(func(s *spec) { s.LogLevel = "DEBUG" }), upstream("create")),
		"ugCacheRefreshCount":  set(func(s *spec) { s.UGCacheRefreshCount = ptr(int32(2)) }),
		// A promise that is kept anyway; it only excludes manageSafeMode.
		"nonSuperUser":       {set: func(run Run) { nntSpec(run).NonSuperUser = ptr(true) }, same: true},
		"manageSafeMode":     set(func(s *spec) { s.ManageSafeMode = ptr(true) }),
		"allowFakeDataNodes": set(func(s *spec) { s.AllowFakeDataNodes = ptr(true) }),
		"rate":               set(func(s *spec) { s.Rate = "0.5" }),
		"duration":           set(func(s *spec) { s.Duration = duration(time.Minute) }),
	}
}

// walk calls visit with the JSON path of every field of our own types; what Kubernetes' types hold is theirs.
func walk(t reflect.Type, path string, visit func(path string, leaf bool)) {
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Anonymous && name == "" {
			walk(f.Type, path, visit)
			continue
		}
		at := strings.TrimPrefix(path+"."+name, ".")
		ft := f.Type
		if ft.Kind() == reflect.Pointer {
			ft = ft.Elem()
		}
		if ft.Kind() == reflect.Slice && ft.Elem() == reflect.TypeFor[v1alpha1.YCSBWorkload]() {
			ft = ft.Elem()
		}
		ours := ft.Kind() == reflect.Struct && ft.PkgPath() == reflect.TypeFor[v1alpha1.RunSpec]().PkgPath() && ft != reflect.TypeFor[v1alpha1.Duration]()
		visit(at, !ours)
		if ours {
			walk(ft, at, visit)
		}
	}
}

// TestFieldsAreComplete: a new field of a spec without an entry above fails, and so does an entry without a field.
func TestFieldsAreComplete(t *testing.T) {
	for kind, k := range allKinds() {
		t.Run(kind, func(t *testing.T) {
			known := map[string]bool{}
			spec, ok := reflect.TypeOf(k.base()).Elem().FieldByName("Spec")
			if !ok {
				t.Fatal("the kind has no spec")
			}
			walk(spec.Type, "", func(path string, leaf bool) {
				known[path] = true
				if leaf && !covered(k.fields, path) {
					t.Errorf("spec.%s has no entry: say what it does, or refuse it by name", path)
				}
			})
			for path := range k.fields {
				if !known[path] {
					t.Errorf("spec.%s is no field", path)
				}
			}
		})
	}
}

func covered(fields map[string]specField, path string) bool {
	for p := path; p != ""; {
		if _, ok := fields[p]; ok {
			return true
		}
		i := strings.LastIndexByte(p, '.')
		p = p[:max(i, 0)]
	}
	return false
}

// TestEveryFieldMatters: each field is refused by its name, or changes what is made or decided. Its echo in
// status.effective is no effect.
func TestEveryFieldMatters(t *testing.T) {
	for kind, k := range allKinds() {
		for _, path := range slices.Sorted(maps.Keys(k.fields)) {
			t.Run(kind+"/"+path, func(t *testing.T) {
				f := k.fields[path]
				base, run := k.base(), k.base()
				if f.prepare != nil {
					f.prepare(base)
					f.prepare(run)
				}
				f.set(run)
				found := check(k.bench, run)
				switch {
				case f.refused == "" && len(found) > 0:
					t.Errorf("refused: %v", found)
				case f.refused == "":
					if same := k.effects(t, base, run) == k.effects(t, base, base); same != f.same {
						t.Errorf("without any effect: %t", same)
					}
				case len(found) != 1 || found[0].Reason != f.refused || !strings.HasPrefix(found[0].Message, "spec."+path+": "):
					t.Errorf("problems %v, want one of reason %s that names the field", found, f.refused)
				}
			})
		}
	}
}

// effects is all that a spec can have an effect on, as one text: the steps, their plans and Jobs, the decisions at
// some moments of an execution, and what becomes of an execution that began with the base's spec.
func (k kindFields) effects(t *testing.T, base, run Run) string {
	t.Helper()
	all := []any{stepsOf(k.bench, run)}
	for _, s := range stepsOf(k.bench, run) {
		o := moment(t, run, stepRow(s.Name, v1alpha1.StepPreparing, nil))
		in := (&Reconciler{Benchmark: k.bench}).input(o)
		all = append(all, in.Plan, jobs.Job(in))
	}
	for _, m := range k.moments(t, run) {
		all = append(all, decided(m))
	}
	changed := moment(t, run, stepRow(k.step, v1alpha1.StepPreparing, nil))
	changed.status.Effective.SpecHash = changed.hash
	if was, _ := base.RunObject(); changed.spec.Rerun != was.Rerun {
		changed.status.Effective.SpecHash = moment(t, base).hash
	}
	all = append(all, decided(changed))
	text, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// decided is a decision without what names the spec.
func decided(o *observed) any {
	d := decide(o)
	if d.next.Effective != nil {
		d.next.Effective.Options, d.next.Effective.SpecHash = nil, ""
	}
	return []any{d.next, d.create, d.requeue}
}

// benchmarkOf is the benchmark of a run's kind.
func benchmarkOf(t *testing.T, run Run) Benchmark {
	t.Helper()
	for _, b := range Benchmarks() {
		if reflect.TypeOf(b.New()) == reflect.TypeOf(run) {
			return b
		}
	}
	t.Fatalf("no benchmark is one of %T", run)
	return nil
}

// moment is an execution two minutes after its beginning that has come to some rows.
func moment(t *testing.T, of Run, rows ...v1alpha1.StepStatus) *observed {
	t.Helper()
	run, ok := of.DeepCopyObject().(Run)
	if !ok {
		t.Fatalf("the copy of a %T is no run", of)
	}
	hash, err := specHash(run)
	if err != nil {
		t.Fatal(err)
	}
	began := ptr(metav1.NewTime(testNow))
	for i := range rows {
		rows[i].ProgressTime, rows[i].Shards.Expected, rows[i].Job = began, 2, "job"
	}
	spec, status := run.RunObject()
	*status = v1alpha1.RunStatus{StartTime: began, Execution: 1, Steps: rows, Effective: &v1alpha1.Effective{SpecHash: hash, RunnerImage: testImage}}
	return &observed{now: testNow.Add(2 * time.Minute), bench: benchmarkOf(t, run), run: run, spec: spec, status: status, hash: hash, image: testImage}
}

// moments are those at which the shared fields decide.
func (k kindFields) moments(t *testing.T, run Run) []*observed {
	t.Helper()
	unready := moment(t, run, stepRow(k.step, v1alpha1.StepPreparing, nil))
	unready.shards = make([]shard, 2)
	measured := moment(t, run, stepRow(plan.StepPreflight, v1alpha1.StepDone, nil), stepRow(k.step, v1alpha1.StepRunning, nil))
	measured.status.Steps[1].StartAt = ptr(metav1.NewMicroTime(testNow))
	id := identity(run, 1, measured.status.Steps[1])
	for i := range int32(2) {
		measured.shards = append(measured.shards, shardOf(id, i, podOf(i, reported(k.report(id, i, testNow))), testNow))
	}
	doubtful := stepRow(k.step, v1alpha1.StepDone, &v1alpha1.StepResult{Invalid: []v1alpha1.Doubt{{Reason: v1alpha1.ReasonTooShort}}})
	finished := moment(t, run, stepRow(plan.StepPreflight, v1alpha1.StepDone, nil), doubtful)
	finished.status.CompletionTime = ptr(metav1.NewTime(testNow))
	return []*observed{moment(t, run), unready, measured, finished}
}

func TestStepString(t *testing.T) {
	if got := (Step{Name: "write", Repeat: 2, Measured: true}).String(); got != "write, repeat 2" {
		t.Errorf("measured step %q", got)
	}
	if got := (Step{Name: "cleanup", Repeat: 1}).String(); got != "cleanup" {
		t.Errorf("other step %q", got)
	}
}
