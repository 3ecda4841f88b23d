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
)

// specField says what a field of the spec does: it is refused with a reason, or it has an effect.
type specField struct {
	set     func(*v1alpha1.DFSIORunSpec)
	refused string
}

func effect(set func(*v1alpha1.DFSIORunSpec)) specField { return specField{set: set} }

func refused(set func(*v1alpha1.DFSIORunSpec)) specField {
	return specField{set: set, refused: v1alpha1.ReasonNotSupported}
}

func inTemplate(set func(*v1alpha1.PodTemplate)) specField {
	return effect(func(s *v1alpha1.DFSIORunSpec) { s.PodTemplate = &v1alpha1.PodTemplate{}; set(s.PodTemplate) })
}

// fields has every JSON field of a DFSIORun's spec. An entry covers the fields below it.
var fields = map[string]specField{
	"target.hadoopConfig.configMapRef.name": effect(func(s *v1alpha1.DFSIORunSpec) {
		s.Target.HadoopConfig = &v1alpha1.HadoopConfig{ConfigMapRef: v1alpha1.LocalObjectReference{Name: "hdfs"}}
	}),
	"target.fs": effect(func(s *v1alpha1.DFSIORunSpec) { s.Target.FS = "hdfs://other:8020" }),
	"target.properties": effect(func(s *v1alpha1.DFSIORunSpec) {
		s.Target.Properties = map[string]v1alpha1.PropertyValue{"dfs.client.x": "1"}
	}),
	"target.user":     effect(func(s *v1alpha1.DFSIORunSpec) { s.Target.User = "hdfs" }),
	"target.kerberos": refused(func(s *v1alpha1.DFSIORunSpec) { s.Target.Kerberos = &v1alpha1.Kerberos{} }),
	"target.tls":      refused(func(s *v1alpha1.DFSIORunSpec) { s.Target.TLS = &v1alpha1.TLS{} }),
	"target.http":     refused(func(s *v1alpha1.DFSIORunSpec) { s.Target.HTTP = &v1alpha1.HTTPAddresses{} }),

	"repeats":            effect(func(s *v1alpha1.DFSIORunSpec) { s.Repeats = ptr(int32(5)) }),
	"repeatOrder":        effect(func(s *v1alpha1.DFSIORunSpec) { s.RepeatOrder = v1alpha1.RepeatRoundRobin }),
	"warmup":             refused(func(s *v1alpha1.DFSIORunSpec) { s.Warmup = duration(time.Second) }),
	"minDuration":        effect(func(s *v1alpha1.DFSIORunSpec) { s.MinDuration = duration(time.Hour) }),
	"startDeadline":      effect(func(s *v1alpha1.DFSIORunSpec) { s.StartDeadline = duration(time.Minute) }),
	"activeDeadline":     effect(func(s *v1alpha1.DFSIORunSpec) { s.ActiveDeadline = duration(time.Minute) }),
	"shardFailurePolicy": refused(func(s *v1alpha1.DFSIORunSpec) { s.ShardFailurePolicy = v1alpha1.ShardFailureRetry }),
	"suspend":            effect(func(s *v1alpha1.DFSIORunSpec) { s.Suspend = ptr(true) }),
	"ttlAfterFinished":   refused(func(s *v1alpha1.DFSIORunSpec) { s.TTLAfterFinished = duration(time.Hour) }),
	"thresholds":         refused(func(s *v1alpha1.DFSIORunSpec) { s.Thresholds = []v1alpha1.Threshold{{}} }),
	"baseline":           refused(func(s *v1alpha1.DFSIORunSpec) { s.Baseline = &v1alpha1.Baseline{} }),
	"successCriteria":    effect(func(s *v1alpha1.DFSIORunSpec) { s.SuccessCriteria = v1alpha1.SuccessValid }),
	"keepResults":        effect(func(s *v1alpha1.DFSIORunSpec) { s.KeepResults = ptr(true) }),
	"maxStartSpread":     effect(func(s *v1alpha1.DFSIORunSpec) { s.MaxStartSpread = duration(time.Microsecond) }),
	"engine":             refused(func(s *v1alpha1.DFSIORunSpec) { s.Engine = v1alpha1.EngineUpstream }),
	"client":             refused(func(s *v1alpha1.DFSIORunSpec) { s.Client = v1alpha1.ClientNative }),
	// Changed in an execution it ends it; changed after it, the run says that a second one is not supported.
	"rerun": effect(func(s *v1alpha1.DFSIORunSpec) { s.Rerun = "again" }),

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

	"tests":               effect(func(s *v1alpha1.DFSIORunSpec) { s.Tests = s.Tests[:1] }),
	"nrFiles":             effect(func(s *v1alpha1.DFSIORunSpec) { s.NrFiles = ptr(int32(3)) }),
	"size":                effect(func(s *v1alpha1.DFSIORunSpec) { s.Size = "2GB" }),
	"bufferSize":          effect(func(s *v1alpha1.DFSIORunSpec) { s.BufferSize = ptr(int32(512)) }),
	"skipSize":            refused(func(s *v1alpha1.DFSIORunSpec) { s.SkipSize = "1MB" }),
	"parallelism":         refused(func(s *v1alpha1.DFSIORunSpec) { s.Parallelism = ptr(int32(1)) }),
	"compression":         refused(func(s *v1alpha1.DFSIORunSpec) { s.Compression = "gzip" }),
	"replication":         effect(func(s *v1alpha1.DFSIORunSpec) { s.Replication = ptr(int32(2)) }),
	"blockSize":           effect(func(s *v1alpha1.DFSIORunSpec) { s.BlockSize = "1MB" }),
	"storagePolicy":       refused(func(s *v1alpha1.DFSIORunSpec) { s.StoragePolicy = "HOT" }),
	"erasureCodingPolicy": refused(func(s *v1alpha1.DFSIORunSpec) { s.ErasureCodingPolicy = "RS-6-3-1024k" }),
	"baseDir":             effect(func(s *v1alpha1.DFSIORunSpec) { s.BaseDir = "/other" }),
	"data.pattern":        effect(func(s *v1alpha1.DFSIORunSpec) { s.Data = &v1alpha1.DFSIOData{Pattern: v1alpha1.PatternZero} }),
	"data.seed":           effect(func(s *v1alpha1.DFSIORunSpec) { s.Data = &v1alpha1.DFSIOData{Seed: ptr(int64(7))} }),
	"data.compressRatioPercent": refused(func(s *v1alpha1.DFSIORunSpec) {
		s.Data = &v1alpha1.DFSIOData{CompressRatioPercent: ptr(int32(50))}
	}),
	"verify":             effect(func(s *v1alpha1.DFSIORunSpec) { s.Verify = ptr(true) }),
	"sync":               refused(func(s *v1alpha1.DFSIORunSpec) { s.Sync = v1alpha1.SyncHSync }),
	"upstreamCompatible": refused(func(s *v1alpha1.DFSIORunSpec) { s.UpstreamCompatible = ptr(true) }),
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
		ours := ft.Kind() == reflect.Struct && ft.PkgPath() == reflect.TypeFor[v1alpha1.DFSIORun]().PkgPath() && ft != reflect.TypeFor[v1alpha1.Duration]()
		visit(at, !ours)
		if ours {
			walk(ft, at, visit)
		}
	}
}

// TestFieldsAreComplete: a new field of the spec without an entry above fails, and so does an entry without a field.
func TestFieldsAreComplete(t *testing.T) {
	known := map[string]bool{}
	walk(reflect.TypeFor[v1alpha1.DFSIORunSpec](), "", func(path string, leaf bool) {
		known[path] = true
		if leaf && !covered(path) {
			t.Errorf("spec.%s has no entry: say what it does, or refuse it by name", path)
		}
	})
	for path := range fields {
		if !known[path] {
			t.Errorf("spec.%s is no field", path)
		}
	}
}

func covered(path string) bool {
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
	base := newRun(func(r *v1alpha1.DFSIORun) { r.Spec.Repeats = ptr(int32(2)) })
	want := effects(t, base, base)
	for _, path := range slices.Sorted(maps.Keys(fields)) {
		t.Run(path, func(t *testing.T) {
			run := base.DeepCopy()
			fields[path].set(&run.Spec)
			found := append(checkShared(&run.Spec.RunSpec), DFSIO{}.Check(run)...)
			switch reason := fields[path].refused; {
			case reason == "" && len(found) > 0:
				t.Errorf("refused: %v", found)
			case reason == "":
				if effects(t, base, run) == want {
					t.Error("it is silently ignored")
				}
			case len(found) != 1 || found[0].Reason != reason || !strings.HasPrefix(found[0].Message, "spec."+path+": "):
				t.Errorf("problems %v, want one of reason %s that names the field", found, reason)
			}
		})
	}
}

// effects is all that a spec can have an effect on, as one text: the steps, their plans and Jobs, the decisions at
// some moments of an execution, and what becomes of an execution that began with the base's spec.
func effects(t *testing.T, base, run *v1alpha1.DFSIORun) string {
	t.Helper()
	all := []any{stepsOf(DFSIO{}, run)}
	for _, s := range stepsOf(DFSIO{}, run) {
		o := moment(t, run, stepRow(s.Name, v1alpha1.StepPreparing, nil))
		in := (&Reconciler{Benchmark: DFSIO{}}).input(o)
		all = append(all, in.Plan, jobs.Job(in))
	}
	for _, m := range moments(t, run) {
		all = append(all, decided(m))
	}
	changed := moment(t, run, stepRow("write", v1alpha1.StepPreparing, nil))
	changed.status.Effective.SpecHash = changed.hash
	if run.Spec.Rerun != base.Spec.Rerun {
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

// moment is an execution two minutes after its beginning that has come to some rows.
func moment(t *testing.T, run *v1alpha1.DFSIORun, rows ...v1alpha1.StepStatus) *observed {
	t.Helper()
	run = run.DeepCopy()
	hash, err := specHash(run)
	if err != nil {
		t.Fatal(err)
	}
	began := ptr(metav1.NewTime(testNow))
	for i := range rows {
		rows[i].ProgressTime, rows[i].Shards.Expected, rows[i].Job = began, 2, "job"
	}
	run.Status = v1alpha1.RunStatus{StartTime: began, Execution: 1, Steps: rows, Effective: &v1alpha1.Effective{SpecHash: hash, RunnerImage: testImage}}
	spec, status := run.RunObject()
	return &observed{now: testNow.Add(2 * time.Minute), bench: DFSIO{}, run: run, spec: spec, status: status, hash: hash, image: testImage}
}

// moments are those at which the shared fields decide.
func moments(t *testing.T, run *v1alpha1.DFSIORun) []*observed {
	t.Helper()
	unready := moment(t, run, stepRow("write", v1alpha1.StepPreparing, nil))
	unready.shards = make([]shard, 2)
	measured := moment(t, run, stepRow(plan.StepPreflight, v1alpha1.StepDone, nil), stepRow("write", v1alpha1.StepRunning, nil))
	measured.status.Steps[1].StartAt = ptr(metav1.NewMicroTime(testNow))
	for i := range int32(2) {
		measured.shards = append(measured.shards, shardOf(testID(), i, podOf(i, reported(completeReport(testID(), i, testNow))), testNow))
	}
	doubtful := stepRow("write", v1alpha1.StepDone, &v1alpha1.StepResult{Invalid: []v1alpha1.Doubt{{Reason: v1alpha1.ReasonTooShort}}})
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
