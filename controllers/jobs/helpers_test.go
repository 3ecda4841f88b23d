package jobs

import (
	"reflect"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hadoop-bench/operator/api/v1alpha1"
	"github.com/hadoop-bench/operator/runner/plan"
	"github.com/hadoop-bench/operator/runner/report"
)

// testUID is the UID of the run in these tests.
const testUID = "7d3f1c1e-5a52-4b7c-9a53-2f7f1c1f0a11"

// gatedInput is a measured step of a run without podTemplate.
func gatedInput() Input {
	return Input{
		Owner: metav1.OwnerReference{
			APIVersion: "hadoopbench.dev/v1alpha1", Kind: "DFSIORun", Name: "nightly.hdfs", UID: testUID,
			Controller: ptr(true), BlockOwnerDeletion: ptr(true),
		},
		Namespace: "bench", Name: "nightly.hdfs", Parallelism: 4, Image: "registry.example.com/runner:1",
		Plan: plan.Plan{
			Version:  plan.Version,
			Identity: report.Identity{RunUID: testUID, Execution: 1, Step: "write", Repeat: 2, Attempt: 1},
			Run:      "bench/nightly.hdfs", Shards: 4, Gate: true, GateTimeoutMillis: 3_600_000, SeriesMicros: 100_000,
			Target: plan.Target{FS: "hdfs://namenode:8020", User: "bench", Properties: map[string]string{"dfs.replication": "2"}},
			DFSIO: &plan.DFSIO{
				Tests: []string{"write", "read"}, BaseDir: "/benchmarks/TestDFSIO/bench/nightly.hdfs", NrFiles: 4, Size: 1 << 30,
				BufferSize: 1_000_000, Pattern: "Random", Client: "Colinmarc",
			},
		},
	}
}

// ungatedInput is the preflight of the same run.
func ungatedInput() Input {
	in := gatedInput()
	in.Plan.Identity.Step, in.Plan.Identity.Repeat = plan.StepPreflight, 1
	in.Plan.Shards, in.Plan.Gate, in.Parallelism, in.Plan.TimeoutMillis = 1, false, 1, 120_000
	return in
}

// kerberosInput is a measured step of an NNThroughputRun on a secure cluster.
func kerberosInput() Input {
	in := gatedInput()
	in.Owner.Kind, in.ConfigMap, in.KeytabSecret, in.Krb5ConfigMap = "NNThroughputRun", "hdfs", "bench-keytab", "realm"
	in.Plan.Identity.Step, in.Plan.DFSIO = "create", nil
	in.Plan.Target.User = ""
	in.Plan.Target.Kerberos = &plan.Kerberos{Principal: "bench@EXAMPLE.COM", Keytab: plan.KeytabFile, Krb5Conf: plan.Krb5File}
	in.Plan.NNThroughput = &plan.NNThroughput{Engine: plan.EngineNative, Operations: []string{"create"}, BaseDirs: []string{"/bench"}, Threads: 64, Connections: 4, Files: 100000, FilesPerDir: 4}
	return in
}

// upstreamInput is a step that the original tool carries out.
func upstreamInput() Input {
	in := ungatedInput()
	in.Owner.Kind, in.PullSecrets = "NNThroughputRun", []string{"registry"}
	in.Plan.Identity.Step, in.Plan.TimeoutMillis, in.Plan.DFSIO = "replication", 0, nil
	in.Plan.Target = plan.Target{FS: "file:///"}
	in.Plan.NNThroughput = &plan.NNThroughput{Engine: plan.EngineUpstream, Operations: []string{"replication"}, BaseDirs: []string{"/bench"}, DataNodes: 10, TotalBlocks: 100}
	in.Template = &v1alpha1.PodTemplate{
		Image: "registry.example.com/hadoop:3.5.0", ImagePullSecrets: []v1alpha1.LocalObjectReference{{Name: "hadoop"}},
		Resources: &corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("2Gi")}},
		Env:       []corev1.EnvVar{{Name: "HADOOP_HEAPSIZE_MAX", Value: "1g"}},
	}
	return in
}

// inputs are all of these by name.
func inputs() map[string]Input {
	return map[string]Input{"gated": gatedInput(), "ungated": ungatedInput(), "full": fullInput(), "kerberos": kerberosInput(), "upstream": upstreamInput()}
}

// fullInput sets every field of podTemplate.
func fullInput() Input {
	in := gatedInput()
	in.ConfigMap = "hdfs"
	in.Template = fullTemplate()
	return in
}

func fullTemplate() *v1alpha1.PodTemplate {
	return &v1alpha1.PodTemplate{
		Labels:           map[string]v1alpha1.LabelValue{"team": "storage"},
		Annotations:      map[string]v1alpha1.AnnotationValue{"example.com/note": "nightly"},
		Image:            "registry.example.com/runner:own",
		ImagePullPolicy:  corev1.PullAlways,
		ImagePullSecrets: []v1alpha1.LocalObjectReference{{Name: "registry"}},
		Resources: &corev1.ResourceRequirements{
			Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("500m"), corev1.ResourceMemory: resource.MustParse("128Mi")},
			Limits:   corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("256Mi")},
		},
		NodeSelector: map[string]v1alpha1.LabelValue{"disk": "nvme"},
		Tolerations:  []corev1.Toleration{{Key: "dedicated", Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoSchedule}},
		Affinity: &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{
			NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchExpressions: []corev1.NodeSelectorRequirement{
				{Key: "rack", Operator: corev1.NodeSelectorOpIn, Values: []string{"a", "b"}},
			}}},
		}}},
		TopologySpreadConstraints: []corev1.TopologySpreadConstraint{{
			MaxSkew: 2, TopologyKey: "rack", WhenUnsatisfiable: corev1.DoNotSchedule,
			LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"team": "storage"}},
		}},
		PriorityClassName:  "high",
		ServiceAccountName: "bench",
		Volumes: []corev1.Volume{{Name: "certificates", VolumeSource: corev1.VolumeSource{
			ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: "certificates"}},
		}}},
		VolumeMounts: []corev1.VolumeMount{{Name: "certificates", MountPath: "/etc/certificates", ReadOnly: true}},
		Env:          []corev1.EnvVar{{Name: "GOMAXPROCS", Value: "2"}},
		SecurityContext: &corev1.PodSecurityContext{
			RunAsUser: ptr(int64(1000)), FSGroup: ptr(int64(1000)),
		},
	}
}

// scramble overwrites everything that can be reached from v.
func scramble(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			scramble(v.Elem())
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				scramble(v.Field(i))
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			scramble(v.Index(i))
		}
	case reflect.Map:
		for _, k := range v.MapKeys() {
			v.SetMapIndex(k, reflect.Zero(v.Type().Elem()))
		}
	case reflect.String:
		if v.CanSet() {
			v.SetString("scrambled")
		}
	case reflect.Bool:
		if v.CanSet() {
			v.SetBool(!v.Bool())
		}
	case reflect.Int32, reflect.Int64, reflect.Int:
		if v.CanSet() {
			v.SetInt(v.Int() + 77)
		}
	}
}
