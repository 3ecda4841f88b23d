package chart

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"helm.sh/helm/v4/pkg/chart/common"
	"helm.sh/helm/v4/pkg/chart/v2/lint"
	"helm.sh/helm/v4/pkg/chart/v2/lint/support"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func TestLint(t *testing.T) {
	for name, values := range map[string]map[string]any{
		"default":    nil,
		"namespaced": {"watchNamespace": "bench"},
		"metrics":    {"metrics": map[string]any{"enabled": true, "serviceMonitor": map[string]any{"enabled": true}}},
	} {
		t.Run(name, func(t *testing.T) {
			for _, m := range lint.RunAll(chartDir, values, defaultNamespace).Messages {
				if m.Severity > support.InfoSev {
					t.Error(m)
				}
			}
		})
	}
}

func TestChartNeeds129(t *testing.T) {
	chart, err := loader.Load(chartDir)
	if err != nil {
		t.Fatal(err)
	}
	for version, want := range map[string]bool{"v1.28.15": false, "v1.29.0": true, "v1.29.4-gke.100": true, "v1.37.2": true} {
		kube, err := common.ParseKubeVersion(version)
		if err != nil {
			t.Fatal(err)
		}
		if got := compatible(t, chart.Metadata.KubeVersion, kube.Version); got != want {
			t.Errorf("Kubernetes %s accepted = %t, want %t", version, got, want)
		}
	}
}

// crds are the definitions of the operator's kinds.
var crds = []string{
	"CustomResourceDefinition dfsioruns.hadoopbench.dev", "CustomResourceDefinition nnthroughputruns.hadoopbench.dev",
	"CustomResourceDefinition ycsbruns.hadoopbench.dev",
}

func TestObjects(t *testing.T) {
	const name, space = "hadoop-bench-operator", "hadoop-bench-system"
	common := []string{
		"Deployment hadoop-bench-system/hadoop-bench-operator",
		"Role hadoop-bench-system/hadoop-bench-operator-leader-election",
		"RoleBinding hadoop-bench-system/hadoop-bench-operator-leader-election",
		"ServiceAccount hadoop-bench-system/hadoop-bench-operator",
	}
	people := []string{"ClusterRole " + name + "-" + space + "-editor", "ClusterRole " + name + "-" + space + "-viewer"}
	manager := []string{"ClusterRole " + name + "-" + space + "-manager", "ClusterRoleBinding " + name + "-" + space + "-manager"}
	tests := map[string]struct {
		values string
		want   [][]string
	}{
		"default":     {"", [][]string{common, crds, people, manager}},
		"CRDs off":    {"crds: {enabled: false}", [][]string{common, people, manager}},
		"no people's": {"rbac: {aggregate: false}", [][]string{common, crds, manager}},
		"no RBAC":     {"rbac: {create: false, aggregate: false}", [][]string{{common[0], common[3]}, crds}},
		"account of one's own": {
			"serviceAccount: {create: false, name: mine}", [][]string{common[:3], crds, people, manager},
		},
		"namespaced": {"watchNamespace: bench", [][]string{common, crds, people, {
			"Role bench/" + name + "-" + space + "-manager", "RoleBinding bench/" + name + "-" + space + "-manager",
		}}},
		"metrics": {"metrics: {enabled: true, serviceMonitor: {enabled: true}}", [][]string{common, crds, people, manager, {
			"Service " + space + "/" + name + "-metrics", "ServiceMonitor " + space + "/" + name + "-metrics",
		}}},
	}
	for testName, tc := range tests {
		t.Run(testName, func(t *testing.T) {
			want := map[string]bool{}
			for _, part := range tc.want {
				for _, key := range part {
					want[key] = true
				}
			}
			got := map[string]bool{}
			for key := range mustRender(t, release{values: tc.values}) {
				got[key] = true
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("objects (-want +got):\n%s", diff)
			}
		})
	}
}

func deployment(t *testing.T, values string) appsv1.Deployment {
	t.Helper()
	return as[appsv1.Deployment](t, mustRender(t, release{values: values}).only(t, "Deployment"))
}

func TestImagesAndArguments(t *testing.T) {
	const digest = "sha256:0123456789012345678901234567890123456789012345678901234567890123"
	type images struct{ Manager, Runner, Namespace, Metrics, PullSecrets string }
	plain := images{"hadoop-bench/operator-manager:0.1.0", "hadoop-bench/operator-runner:0.1.0", "", "0", "none"}
	tests := map[string]struct {
		values string
		change func(*images)
	}{
		"default": {"", func(*images) {}},
		"tags": {"image: {manager: {tag: v2}, runner: {tag: v3}}", func(i *images) {
			i.Manager, i.Runner = "hadoop-bench/operator-manager:v2", "hadoop-bench/operator-runner:v3"
		}},
		"digests win over tags": {"image: {manager: {tag: v2, digest: '" + digest + "'}, runner: {digest: '" + digest + "'}}", func(i *images) {
			i.Manager, i.Runner = "hadoop-bench/operator-manager@"+digest, "hadoop-bench/operator-runner@"+digest
		}},
		"registries of their own": {"image: {manager: {registry: a.example}, runner: {registry: 'b.example:5000', repository: r}}", func(i *images) {
			i.Manager, i.Runner = "a.example/hadoop-bench/operator-manager:0.1.0", "b.example:5000/r:0.1.0"
		}},
		"global registry wins": {"{global: {imageRegistry: mirror.example/x/}, image: {manager: {registry: a.example}}}", func(i *images) {
			i.Manager, i.Runner = "mirror.example/x/hadoop-bench/operator-manager:0.1.0", "mirror.example/x/hadoop-bench/operator-runner:0.1.0"
		}},
		"one namespace": {"watchNamespace: bench", func(i *images) { i.Namespace = "bench" }},
		"metrics":       {"metrics: {enabled: true, port: 9000}", func(i *images) { i.Metrics = ":9000" }},
		"pull secrets": {"{global: {imagePullSecrets: [{name: a}]}, runner: {imagePullSecrets: [{name: a}, {name: b}]}}", func(i *images) {
			i.PullSecrets = "a,b"
		}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			want := plain
			tc.change(&want)
			container := deployment(t, tc.values).Spec.Template.Spec.Containers[0]
			got := images{
				container.Image, flag(container, "runner-image"), flag(container, "namespace"),
				flag(container, "metrics-bind-address"), flag(container, "runner-image-pull-secrets"),
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("images and arguments (-want +got):\n%s", diff)
			}
		})
	}
}

// flag returns the value of a flag of the container, or none.
func flag(c corev1.Container, name string) string {
	for _, arg := range c.Args {
		if value, ok := strings.CutPrefix(arg, "--"+name+"="); ok {
			return value
		}
	}
	return "none"
}

func TestSettingsReachThePod(t *testing.T) {
	pod := deployment(t, `
imagePullSecrets: [{name: a}]
global: {imagePullSecrets: [{name: b}]}
priorityClassName: high
nodeSelector: {pool: system}
tolerations: [{key: system, operator: Exists}]
affinity: {nodeAffinity: {preferredDuringSchedulingIgnoredDuringExecution: []}}
podLabels: {team: data}
podAnnotations: {note: x}
resources: {requests: {cpu: 1}, limits: null}
podSecurityContext: {seccompProfile: null}
serviceAccount: {name: mine}
`).Spec.Template
	type settings struct {
		PullSecrets                       []corev1.LocalObjectReference
		Priority, Account, Label, Comment string
		NodeSelector                      map[string]string
		Tolerations                       []corev1.Toleration
		HasAffinity, HasLimits, Seccomp   bool
	}
	spec := pod.Spec
	got := settings{
		spec.ImagePullSecrets, spec.PriorityClassName, spec.ServiceAccountName, pod.Labels["team"], pod.Annotations["note"],
		spec.NodeSelector, spec.Tolerations, spec.Affinity != nil, spec.Containers[0].Resources.Limits != nil,
		spec.SecurityContext.SeccompProfile != nil,
	}
	want := settings{
		PullSecrets: []corev1.LocalObjectReference{{Name: "b"}, {Name: "a"}}, Priority: "high", Account: "mine", Label: "data",
		Comment: "x", NodeSelector: map[string]string{"pool": "system"},
		Tolerations: []corev1.Toleration{{Key: "system", Operator: corev1.TolerationOpExists}}, HasAffinity: true,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("settings (-want +got):\n%s", diff)
	}
}

// TestManagerIsRestricted: what the Pod Security Standard "restricted" asks for, and no user of a fixed number.
func TestManagerIsRestricted(t *testing.T) {
	yes, no := true, false
	for name, list := range map[string]objects{"chart": mustRender(t, release{}), "kustomize": kustomizeDefault(t)} {
		t.Run(name, func(t *testing.T) {
			spec := as[appsv1.Deployment](t, list.only(t, "Deployment")).Spec.Template.Spec
			wantPod := &corev1.PodSecurityContext{
				RunAsNonRoot: &yes, SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
			}
			if diff := cmp.Diff(wantPod, spec.SecurityContext); diff != "" {
				t.Errorf("pod (-want +got):\n%s", diff)
			}
			wantContainer := &corev1.SecurityContext{
				AllowPrivilegeEscalation: &no, ReadOnlyRootFilesystem: &yes,
				Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
			}
			if diff := cmp.Diff(wantContainer, spec.Containers[0].SecurityContext); diff != "" {
				t.Errorf("container (-want +got):\n%s", diff)
			}
		})
	}
}

func TestNotes(t *testing.T) {
	tests := map[string]struct {
		values   string
		has, not string
	}{
		"all namespaces": {"", "watches all namespaces", "crds.enabled=false"},
		"one namespace":  {"watchNamespace: bench", "namespace: bench", "all namespaces"},
		"CRDs off":       {"crds: {enabled: false}", "crds.enabled=false", "bench get"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			_, notes, err := release{defaultRelease, defaultNamespace, tc.values}.render()
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(notes, tc.has) || strings.Contains(notes, tc.not) {
				t.Errorf("notes have to contain %q and not %q:\n%s", tc.has, tc.not, notes)
			}
		})
	}
}

// TestRunInTheNotesIsARun takes the manifest out of the notes: it has to name fields that exist.
func TestRunInTheNotesIsARun(t *testing.T) {
	_, notes, err := release{defaultRelease, defaultNamespace, "watchNamespace: bench"}.render()
	if err != nil {
		t.Fatal(err)
	}
	_, manifest, _ := strings.Cut(notes, "<<YAML\n")
	manifest, _, _ = strings.Cut(manifest, "YAML\n")
	list := objects{}
	if err := list.add([]byte(manifest)); err != nil {
		t.Fatal(err)
	}
	run := list.only(t, "DFSIORun")
	schema, _, _ := unstructured.NestedSlice(mustRender(t, release{})[crds[0]].Object, "spec", "versions")
	fields, _, _ := unstructured.NestedMap(schema[0].(map[string]any), "schema", "openAPIV3Schema", "properties", "spec", "properties")
	spec, _, _ := unstructured.NestedMap(run.Object, "spec")
	if run.GetNamespace() != "bench" || len(spec) == 0 {
		t.Errorf("the run in the notes is in namespace %q and has %d fields, want bench and some", run.GetNamespace(), len(spec))
	}
	for name := range spec {
		if _, ok := fields[name]; !ok {
			t.Errorf("the run in the notes has spec.%s, which the CRD does not", name)
		}
	}
}

// TestBindingsBindWhatIsThere: each binding names a role that was rendered, and the pod's service account.
func TestBindingsBindWhatIsThere(t *testing.T) {
	lists := map[string]objects{
		"cluster":    mustRender(t, release{}),
		"namespaced": mustRender(t, release{values: "watchNamespace: bench"}),
		"long":       mustRender(t, release{name: strings.Repeat("n", 53), namespace: strings.Repeat("s", 63)}),
		"kustomize":  kustomizeDefault(t),
	}
	for name, list := range lists {
		t.Run(name, func(t *testing.T) {
			d := as[appsv1.Deployment](t, list.only(t, "Deployment"))
			subject := rbacv1.Subject{Kind: "ServiceAccount", Name: d.Spec.Template.Spec.ServiceAccountName, Namespace: d.Namespace}
			bindings := 0
			for _, u := range list {
				if !strings.HasSuffix(u.GetKind(), "Binding") {
					continue
				}
				bindings++
				b := as[rbacv1.RoleBinding](t, u)
				if diff := cmp.Diff([]rbacv1.Subject{subject}, b.Subjects); diff != "" {
					t.Errorf("%s: subjects (-want +got):\n%s", b.Name, diff)
				}
				key := b.RoleRef.Kind + " " + b.RoleRef.Name
				if b.RoleRef.Kind == "Role" {
					key = b.RoleRef.Kind + " " + b.Namespace + "/" + b.RoleRef.Name
				}
				if list[key] == nil {
					t.Errorf("%s binds %s, which is not among %v", b.Name, key, list.keys())
				}
			}
			if bindings != 2 {
				t.Errorf("%d bindings, want 2", bindings)
			}
		})
	}
}
