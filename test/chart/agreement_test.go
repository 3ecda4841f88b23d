package chart

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/kustomize/kyaml/filesys"
)

// rule is one permission, in the order of DESIGN: what may be done to what.
type rule struct{ group, resource, verbs string }

// managerRules is all that the manager may do. Whoever widens it changes this test, and should say why.
var managerRules = []rule{
	{"hadoopbench.dev", "dfsioruns", "get list watch"},
	{"hadoopbench.dev", "nnthroughputruns", "get list watch"},
	{"hadoopbench.dev", "ycsbruns", "get list watch"},
	{"hadoopbench.dev", "dfsioruns/status", "get update"},
	{"hadoopbench.dev", "nnthroughputruns/status", "get update"},
	{"hadoopbench.dev", "ycsbruns/status", "get update"},
	{"hadoopbench.dev", "dfsioruns/finalizers", "update"},
	{"hadoopbench.dev", "nnthroughputruns/finalizers", "update"},
	{"hadoopbench.dev", "ycsbruns/finalizers", "update"},
	{"batch", "jobs", "create delete get list watch"},
	{"", "pods", "get list watch"},
	{"", "pods/status", "patch"},
	{"", "configmaps", "create get update"},
	{"", "events", "create list patch"},
	{"events.k8s.io", "events", "create list patch"},
}

var leaderRules = []rule{
	{"coordination.k8s.io", "leases", "create get patch update"},
	{"", "events", "create patch"},
	{"events.k8s.io", "events", "create patch"},
}

func flatten(rules []rbacv1.PolicyRule) []rule {
	var list []rule
	for _, r := range rules {
		for _, group := range r.APIGroups {
			for _, resource := range r.Resources {
				list = append(list, rule{group, resource, strings.Join(r.Verbs, " ")})
			}
		}
	}
	return list
}

func TestPermissions(t *testing.T) {
	const name = "hadoop-bench-operator-hadoop-bench-system-"
	const leader = "Role hadoop-bench-system/hadoop-bench-operator-leader-election"
	tests := map[string]struct {
		list            objects
		manager, leader string
	}{
		"chart":            {mustRender(t, release{}), "ClusterRole " + name + "manager", leader},
		"chart namespaced": {mustRender(t, release{values: "watchNamespace: bench"}), "Role bench/" + name + "manager", leader},
		"kustomize": {
			kustomizeDefault(t), "ClusterRole hadoop-bench-manager", "Role hadoop-bench-system/hadoop-bench-leader-election",
		},
	}
	for testName, tc := range tests {
		t.Run(testName, func(t *testing.T) {
			for key, want := range map[string][]rule{tc.manager: managerRules, tc.leader: leaderRules} {
				u, ok := tc.list[key]
				if !ok {
					t.Fatalf("%s is not among %v", key, tc.list.keys())
				}
				if diff := cmp.Diff(want, flatten(as[rbacv1.ClusterRole](t, u).Rules), cmp.AllowUnexported(rule{})); diff != "" {
					t.Errorf("%s (-want +got):\n%s", key, diff)
				}
			}
		})
	}
}

// TestPeoplesRoles: what aggregates into admin, edit and view is the same in chart and kustomize.
func TestPeoplesRoles(t *testing.T) {
	chart, kustomized := mustRender(t, release{}), kustomizeDefault(t)
	for _, role := range []string{"editor", "viewer"} {
		one := as[rbacv1.ClusterRole](t, chart["ClusterRole hadoop-bench-operator-hadoop-bench-system-"+role])
		two := as[rbacv1.ClusterRole](t, kustomized["ClusterRole hadoop-bench-"+role])
		if diff := cmp.Diff(two.Rules, one.Rules); diff != "" {
			t.Errorf("%s: rules (-kustomize +chart):\n%s", role, diff)
		}
		if diff := cmp.Diff(aggregation(two.Labels), aggregation(one.Labels)); diff != "" || len(aggregation(one.Labels)) == 0 {
			t.Errorf("%s: labels (-kustomize +chart):\n%s", role, diff)
		}
	}
}

func aggregation(labels map[string]string) map[string]string {
	found := map[string]string{}
	for key, value := range labels {
		if strings.Contains(key, "/aggregate-to-") {
			found[key] = value
		}
	}
	return found
}

// TestDeploymentsAgree: chart and kustomize run the same manager, apart from names and from labels.
func TestDeploymentsAgree(t *testing.T) {
	chart := as[appsv1.Deployment](t, mustRender(t, release{}).only(t, "Deployment"))
	kustomized := as[appsv1.Deployment](t, kustomizeDefault(t).only(t, "Deployment"))
	for _, d := range []*appsv1.Deployment{&chart, &kustomized} {
		d.Name, d.Labels, d.Spec.Selector, d.Spec.Template.Labels = "", nil, nil, nil
		d.Spec.Template.Spec.ServiceAccountName = ""
	}
	if diff := cmp.Diff(kustomized, chart); diff != "" {
		t.Errorf("Deployment (-kustomize +chart):\n%s", diff)
	}
}

// TestMetricsAgree switches the metrics on in both ways.
func TestMetricsAgree(t *testing.T) {
	fs := filesys.MakeFsOnDisk()
	dir := filepath.Join(t.TempDir(), "config")
	if err := os.CopyFS(dir, os.DirFS(root+"/config")); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "default", "kustomization.yaml")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	// The comment at the end of the file says how: so this tests the comment as well.
	switched := strings.NewReplacer("# components:", "components:", "# - ../prometheus", "- ../prometheus").Replace(string(text))
	if err := os.WriteFile(path, []byte(switched), 0o644); err != nil {
		t.Fatal(err)
	}
	kustomized := kustomize(t, fs, filepath.Join(dir, "default"))
	chart := mustRender(t, release{values: everything})
	one := as[appsv1.Deployment](t, chart.only(t, "Deployment")).Spec.Template.Spec.Containers[0]
	two := as[appsv1.Deployment](t, kustomized.only(t, "Deployment")).Spec.Template.Spec.Containers[0]
	if diff := cmp.Diff(two.Args, one.Args); diff != "" || flag(one, "metrics-bind-address") != ":8080" {
		t.Errorf("arguments (-kustomize +chart):\n%s", diff)
	}
	if diff := cmp.Diff(two.Ports, one.Ports); diff != "" {
		t.Errorf("ports (-kustomize +chart):\n%s", diff)
	}
	s1, s2 := as[corev1.Service](t, chart.only(t, "Service")), as[corev1.Service](t, kustomized.only(t, "Service"))
	if diff := cmp.Diff(s2.Spec.Ports, s1.Spec.Ports); diff != "" {
		t.Errorf("service (-kustomize +chart):\n%s", diff)
	}
	m1, m2 := chart.only(t, "ServiceMonitor"), kustomized.only(t, "ServiceMonitor")
	if diff := cmp.Diff(m2.Object["spec"].(map[string]any)["endpoints"], m1.Object["spec"].(map[string]any)["endpoints"]); diff != "" {
		t.Errorf("monitor (-kustomize +chart):\n%s", diff)
	}
}

// TestCopies: what the chart has in files/ is what config has, to the byte.
func TestCopies(t *testing.T) {
	pairs := map[string]string{"crds": "crd", "rbac": "rbac"}
	copies := 0
	for in, from := range pairs {
		paths, err := filepath.Glob(filepath.Join(chartDir, "files", in, "*"))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range paths {
			copies++
			got, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			want, err := os.ReadFile(filepath.Join(root, "config", from, filepath.Base(path)))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), string(got)); diff != "" {
				t.Errorf("%s (-config +chart), run make manifests:\n%s", path, diff)
			}
		}
	}
	if copies != 7 {
		t.Errorf("%d copies, want 7", copies)
	}
}

// TestCRDsAreTheSameAndKept: the chart's CRDs have the schemas of config/crd, and outlive the release.
func TestCRDsAreTheSameAndKept(t *testing.T) {
	chart := mustRender(t, release{})
	kustomized := kustomize(t, filesys.MakeFsOnDisk(), root+"/config/crd")
	if diff := cmp.Diff(slices.Sorted(slices.Values(crds)), kustomized.keys()); diff != "" {
		t.Errorf("objects of config/crd (-want +got):\n%s", diff)
	}
	for _, key := range crds {
		one, two := chart[key], kustomized[key]
		if one == nil || two == nil {
			t.Fatalf("%s is not among %v", key, chart.keys())
		}
		if diff := cmp.Diff(two.Object["spec"], one.Object["spec"]); diff != "" {
			t.Errorf("%s: spec (-kustomize +chart):\n%s", key, diff)
		}
		want := two.GetAnnotations()
		want["helm.sh/resource-policy"] = "keep"
		if diff := cmp.Diff(want, one.GetAnnotations()); diff != "" {
			t.Errorf("%s: annotations (-want +chart):\n%s", key, diff)
		}
	}
}

// TestSamplesAreListed: kubectl apply -k config/samples applies every file that is there, under a name of its own.
func TestSamplesAreListed(t *testing.T) {
	paths, err := filepath.Glob(root + "/config/samples/*run*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if list := kustomize(t, filesys.MakeFsOnDisk(), root+"/config/samples"); len(list) != len(paths) || len(paths) < 6 {
		t.Errorf("objects = %v, want one for each of %v", list.keys(), paths)
	}
}

func TestNamespaceIsRestricted(t *testing.T) {
	namespace := kustomizeDefault(t).only(t, "Namespace")
	if got := namespace.GetLabels()["pod-security.kubernetes.io/enforce"]; got != "restricted" {
		t.Errorf("Pod Security of the operator's namespace = %q, want restricted", got)
	}
}

// TestArgumentsAreFlagsOfTheManager: an argument that the manager does not know would keep it from starting, and one
// set only by a rare value would do so only there.
func TestArgumentsAreFlagsOfTheManager(t *testing.T) {
	source, err := os.ReadFile(root + "/controllers/manager/manager.go")
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	for _, match := range regexp.MustCompile(`Var\(&o\.\w+, "([a-z-]+)"`).FindAllSubmatch(source, -1) {
		known[string(match[1])] = true
	}
	const all = "{global: {imagePullSecrets: [{name: a}]}, watchNamespace: bench, metrics: {enabled: true}}"
	for _, arg := range deployment(t, all).Spec.Template.Spec.Containers[0].Args {
		name, _, _ := strings.Cut(strings.TrimPrefix(arg, "--"), "=")
		if !known[name] {
			t.Errorf("the manager has no flag --%s", name)
		}
	}
}
