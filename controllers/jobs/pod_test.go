package jobs

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/hadoop-bench/operator/api/v1alpha1"
	"github.com/hadoop-bench/operator/runner/plan"
)

// TestPodIsRestricted asserts each rule of the restricted Pod Security Standard, and that no user is asked for.
func TestPodIsRestricted(t *testing.T) {
	for name, in := range inputs() {
		t.Run(name, func(t *testing.T) {
			spec := Job(in).Spec.Template.Spec
			if spec.HostNetwork || spec.HostPID || spec.HostIPC || spec.HostUsers != nil {
				t.Error("the pod shares the node's namespaces")
			}
			sc := spec.SecurityContext
			if sc.RunAsNonRoot == nil || !*sc.RunAsNonRoot {
				t.Error("runAsNonRoot is not true")
			}
			if sc.SeccompProfile == nil || sc.SeccompProfile.Type != corev1.SeccompProfileTypeRuntimeDefault {
				t.Errorf("seccomp profile is %v", sc.SeccompProfile)
			}
			if len(spec.InitContainers) > 0 != (name == "upstream") || len(spec.EphemeralContainers) != 0 || len(spec.Containers) != 1 {
				t.Fatal("the pod has other containers than the runner and what brings it")
			}
			for _, c := range append(spec.InitContainers, spec.Containers...) {
				restrictedContainer(t, c)
			}
			for _, v := range spec.Volumes {
				if v.ConfigMap == nil && v.DownwardAPI == nil && v.EmptyDir == nil && v.Secret == nil {
					t.Errorf("volume %s is of a kind that the standard does not allow", v.Name)
				}
			}
		})
	}
}

func restrictedContainer(t *testing.T, c corev1.Container) {
	t.Helper()
	sc := c.SecurityContext
	switch {
	case sc == nil:
		t.Fatal("the container has no security context")
	case sc.AllowPrivilegeEscalation == nil || *sc.AllowPrivilegeEscalation:
		t.Error("allowPrivilegeEscalation is not false")
	case sc.ReadOnlyRootFilesystem == nil || !*sc.ReadOnlyRootFilesystem:
		t.Error("readOnlyRootFilesystem is not true")
	case sc.Privileged != nil || sc.ProcMount != nil || sc.RunAsUser != nil:
		t.Errorf("security context is %v", sc)
	}
	if diff := cmp.Diff(&corev1.Capabilities{Drop: []corev1.Capability{"ALL"}}, sc.Capabilities); diff != "" {
		t.Errorf("capabilities (-want +got):\n%s", diff)
	}
	for _, p := range c.Ports {
		if p.HostPort != 0 {
			t.Errorf("port %d of the node", p.HostPort)
		}
	}
}

// TestPodNeedsNoOperator: no token, no service variables, no port, and nothing that probes a measuring pod.
func TestPodNeedsNoOperator(t *testing.T) {
	for name, in := range inputs() {
		t.Run(name, func(t *testing.T) {
			spec := Job(in).Spec.Template.Spec
			c := spec.Containers[0]
			switch {
			case spec.AutomountServiceAccountToken == nil || *spec.AutomountServiceAccountToken:
				t.Error("the pod gets a token")
			case spec.EnableServiceLinks == nil || *spec.EnableServiceLinks:
				t.Error("the pod gets variables of services")
			case spec.RestartPolicy != corev1.RestartPolicyNever:
				t.Errorf("restart policy is %s", spec.RestartPolicy)
			case len(c.Ports) != 0 || c.ReadinessProbe != nil || c.LivenessProbe != nil || c.Lifecycle != nil:
				t.Error("the container has ports, probes or hooks")
			case (c.StartupProbe != nil) != in.Plan.Gate:
				t.Errorf("gate %t, startup probe %v", in.Plan.Gate, c.StartupProbe)
			case c.Name != plan.Container || c.TerminationMessagePath != plan.ReportFile || c.TerminationMessagePolicy != corev1.TerminationMessageReadFile:
				t.Errorf("container %s reports by %s (%s)", c.Name, c.TerminationMessagePath, c.TerminationMessagePolicy)
			}
		})
	}
}

// TestOwnVolumesAreMounted: each volume of the operator has its mount, read-only but for the one to write into, and none
// by subPath, which would not show what changes.
func TestOwnVolumesAreMounted(t *testing.T) {
	in := gatedInput()
	in.ConfigMap = "hdfs"
	spec := Job(in).Spec.Template.Spec
	want := map[string]string{"plan": plan.Dir, "pod": plan.PodInfoDir, "run": plan.RunDir, "conf": plan.ConfDir}
	got := map[string]string{}
	for _, m := range spec.Containers[0].VolumeMounts {
		got[m.Name] = m.MountPath
		if m.SubPath != "" || m.ReadOnly != (m.Name != "run") {
			t.Errorf("mount %+v", m)
		}
		if !slices.ContainsFunc(spec.Volumes, func(v corev1.Volume) bool { return v.Name == m.Name }) {
			t.Errorf("mount %s has no volume", m.Name)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("mounts (-want +got):\n%s", diff)
	}
}

// TestKerberosFilesLieWhereThePlanSays, and any user can read them: the pods have no group of their own.
func TestKerberosFilesLieWhereThePlanSays(t *testing.T) {
	spec := Job(kerberosInput()).Spec.Template.Spec
	files := map[string]string{}
	for _, m := range spec.Containers[0].VolumeMounts {
		for _, v := range spec.Volumes {
			switch {
			case v.Name != m.Name:
			case v.Secret != nil:
				files[m.MountPath+"/"+v.Secret.Items[0].Path] = fmt.Sprintf("%s %s %o", v.Secret.SecretName, v.Secret.Items[0].Key, *v.Secret.DefaultMode)
			case v.ConfigMap != nil && len(v.ConfigMap.Items) > 0:
				files[m.MountPath+"/"+v.ConfigMap.Items[0].Path] = fmt.Sprintf("%s %s %o", v.ConfigMap.Name, v.ConfigMap.Items[0].Key, *v.ConfigMap.DefaultMode)
			}
		}
	}
	want := map[string]string{plan.KeytabFile: "bench-keytab keytab 444", plan.Krb5File: "realm krb5.conf 444"}
	if diff := cmp.Diff(want, files); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
}

// TestUpstreamRunsInTheHadoopImage: the runner comes from its own image, and the user's variables win.
func TestUpstreamRunsInTheHadoopImage(t *testing.T) {
	spec := Job(upstreamInput()).Spec.Template.Spec
	first, c := spec.InitContainers[0], spec.Containers[0]
	got := []string{first.Image, strings.Join(first.Args, " "), c.Image, strings.Join(append(c.Command, c.Args...), " ")}
	want := []string{"registry.example.com/runner:1", "install -to /hadoopbench", "registry.example.com/hadoop:3.5.0", "/hadoopbench/runner shard"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("images and command lines (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]corev1.LocalObjectReference{{Name: "hadoop"}, {Name: "registry"}}, spec.ImagePullSecrets); diff != "" {
		t.Errorf("Secrets for both images (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(c.Resources, first.Resources); diff != "" {
		t.Errorf("a quota counts both containers (-runner +install):\n%s", diff)
	}
	if c.Env[0].Name != "HOME" || c.Env[0].Value != plan.WorkDir || c.Env[1].Name != "HADOOP_HEAPSIZE_MAX" {
		t.Errorf("environment %v", c.Env)
	}
}

func TestOwnVolume(t *testing.T) {
	for kind, in := range inputs() {
		for _, v := range volumes(in) {
			if !OwnVolume(v.Name) {
				t.Errorf("%s: volume %s can be the user's, too", kind, v.Name)
			}
		}
	}
	if OwnVolume("certificates") {
		t.Error("every name is the operator's")
	}
}

func TestDownwardAPIShowsOrders(t *testing.T) {
	want := map[string]string{
		plan.StartFile: "metadata.annotations['" + plan.AnnotationStartAt + "']",
		plan.StopFile:  "metadata.annotations['" + plan.AnnotationStop + "']",
	}
	got := map[string]string{}
	for _, v := range Job(gatedInput()).Spec.Template.Spec.Volumes {
		if v.DownwardAPI == nil {
			continue
		}
		for _, f := range v.DownwardAPI.Items {
			got[plan.PodInfoDir+"/"+f.Path] = f.FieldRef.FieldPath
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
}

func TestTemplateOverDefaults(t *testing.T) {
	in := gatedInput()
	in.Template = &v1alpha1.PodTemplate{
		Tolerations:     []corev1.Toleration{{Key: "mine", Operator: corev1.TolerationOpExists}},
		SecurityContext: &corev1.PodSecurityContext{RunAsNonRoot: ptr(false), SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeUnconfined}},
		Env:             []corev1.EnvVar{{Name: plan.NodeEnv, Value: "forged"}},
	}
	spec := Job(in).Spec.Template.Spec
	var keys []string
	for _, tol := range spec.Tolerations {
		keys = append(keys, tol.Key)
	}
	if got, want := strings.Join(keys, " "), "mine node.kubernetes.io/not-ready node.kubernetes.io/unreachable"; got != want {
		t.Errorf("tolerations %q, want %q", got, want)
	}
	if sc := spec.SecurityContext; *sc.RunAsNonRoot || sc.SeccompProfile.Type != corev1.SeccompProfileTypeUnconfined {
		t.Errorf("the user's security context was changed to %v", sc)
	}
	env := spec.Containers[0].Env
	if last := env[len(env)-1]; last.Name != plan.NodeEnv || last.ValueFrom == nil {
		t.Errorf("the operator's variable does not come last, so the user's wins: %v", env)
	}
	if got := spec.TopologySpreadConstraints; len(got) != 1 || got[0].TopologyKey != corev1.LabelHostname || got[0].WhenUnsatisfiable != corev1.ScheduleAnyway {
		t.Errorf("default spread is %v", got)
	}
}

// TestPullSecrets: those of the installation are used unless the run names its own.
func TestPullSecrets(t *testing.T) {
	in := gatedInput()
	in.PullSecrets = []string{"a", "b"}
	if diff := cmp.Diff([]corev1.LocalObjectReference{{Name: "a"}, {Name: "b"}}, Job(in).Spec.Template.Spec.ImagePullSecrets); diff != "" {
		t.Errorf("the installation's (-want +got):\n%s", diff)
	}
	in.Template = &v1alpha1.PodTemplate{ImagePullSecrets: []v1alpha1.LocalObjectReference{{Name: "own"}}}
	if diff := cmp.Diff([]corev1.LocalObjectReference{{Name: "own"}}, Job(in).Spec.Template.Spec.ImagePullSecrets); diff != "" {
		t.Errorf("the run's own (-want +got):\n%s", diff)
	}
}
