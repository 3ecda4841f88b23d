package jobs

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hadoop-bench/operator/api/v1alpha1"
	"github.com/hadoop-bench/operator/runner/plan"
)

// podSpec is that of a shard: it fits the restricted Pod Security Standard with any user, gets no token, and needs no
// network to the operator.
func podSpec(in Input) corev1.PodSpec {
	t := v1alpha1.PodTemplate{}
	if in.Template != nil {
		t = *in.Template.DeepCopy()
	}
	spec := corev1.PodSpec{
		RestartPolicy:                 corev1.RestartPolicyNever,
		AutomountServiceAccountToken:  ptr(false),
		EnableServiceLinks:            ptr(false),
		TerminationGracePeriodSeconds: ptr(int64(30)),
		ServiceAccountName:            t.ServiceAccountName,
		PriorityClassName:             t.PriorityClassName,
		ImagePullSecrets:              pullSecrets(in, t.ImagePullSecrets),
		NodeSelector:                  nodeSelector(t.NodeSelector),
		Affinity:                      t.Affinity,
		Tolerations:                   slices.Concat(t.Tolerations, lostNodeTolerations()),
		TopologySpreadConstraints:     spread(in, t.TopologySpreadConstraints),
		SecurityContext:               podSecurity(t.SecurityContext),
		Volumes:                       slices.Concat(volumes(in), t.Volumes),
		Containers:                    []corev1.Container{container(in, t)},
	}
	if in.upstream() {
		spec.InitContainers = []corev1.Container{installer(in, spec.Containers[0])}
	}
	return spec
}

func container(in Input, t v1alpha1.PodTemplate) corev1.Container {
	c := corev1.Container{
		Name:            plan.Container,
		Image:           in.Image,
		ImagePullPolicy: corev1.PullIfNotPresent,
		Args:            []string{"shard"},
		Env: slices.Concat(t.Env, []corev1.EnvVar{{
			Name:      plan.NodeEnv,
			ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{APIVersion: "v1", FieldPath: "spec.nodeName"}},
		}}),
		VolumeMounts:             slices.Concat(mounts(in), t.VolumeMounts),
		TerminationMessagePath:   plan.ReportFile,
		TerminationMessagePolicy: corev1.TerminationMessageReadFile,
		SecurityContext:          restricted(),
	}
	if t.Image != "" {
		c.Image = t.Image
	}
	if t.ImagePullPolicy != "" {
		c.ImagePullPolicy = t.ImagePullPolicy
	}
	if t.Resources != nil {
		c.Resources = *t.Resources
	}
	runner := "/runner"
	if in.upstream() {
		runner = toolsDir + "/runner"
		c.Command = []string{runner}
		c.Env = slices.Concat(upstreamEnv(), c.Env)
	}
	if in.Plan.Gate {
		c.StartupProbe = startupProbe(runner)
	}
	return c
}

// restricted is what the restricted standard asks of a container.
func restricted() *corev1.SecurityContext {
	return &corev1.SecurityContext{
		AllowPrivilegeEscalation: ptr(false),
		ReadOnlyRootFilesystem:   ptr(true),
		Capabilities:             &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
	}
}

// startupProbe makes a prepared shard Ready. It ends with its first success, and there is no readiness probe after it,
// so nothing is executed in the pod while it measures. Its limit never strikes: the operator's startDeadline does.
func startupProbe(runner string) *corev1.Probe {
	return &corev1.Probe{
		ProbeHandler:     corev1.ProbeHandler{Exec: &corev1.ExecAction{Command: []string{runner, "probe"}}},
		PeriodSeconds:    1,
		TimeoutSeconds:   10,
		FailureThreshold: 1 << 30,
		SuccessThreshold: 1,
	}
}

// podSecurity fills what the restricted standard asks for and the user left open. No user is set: the image's is a
// number, and platforms that assign one may.
func podSecurity(sc *corev1.PodSecurityContext) *corev1.PodSecurityContext {
	if sc == nil {
		sc = &corev1.PodSecurityContext{}
	}
	if sc.RunAsNonRoot == nil {
		sc.RunAsNonRoot = ptr(true)
	}
	if sc.SeccompProfile == nil {
		sc.SeccompProfile = &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault}
	}
	return sc
}

func lostNodeTolerations() []corev1.Toleration {
	var out []corev1.Toleration
	for _, key := range []string{corev1.TaintNodeNotReady, corev1.TaintNodeUnreachable} {
		out = append(out, corev1.Toleration{
			Key: key, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute,
			TolerationSeconds: ptr(int64(lostNodeSeconds)),
		})
	}
	return out
}

// spread is a soft spread over the nodes, unless the user has an own one.
func spread(in Input, own []corev1.TopologySpreadConstraint) []corev1.TopologySpreadConstraint {
	if len(own) > 0 {
		return own
	}
	return []corev1.TopologySpreadConstraint{{
		MaxSkew:           1,
		TopologyKey:       corev1.LabelHostname,
		WhenUnsatisfiable: corev1.ScheduleAnyway,
		LabelSelector:     &metav1.LabelSelector{MatchLabels: map[string]string{LabelAttempt: AttemptHash(in.Plan.Identity)}},
	}}
}

// pullSecrets are the run's own, else the installation's; both where the pod has an image of each.
func pullSecrets(in Input, own []v1alpha1.LocalObjectReference) []corev1.LocalObjectReference {
	var out []corev1.LocalObjectReference
	for _, r := range own {
		out = append(out, corev1.LocalObjectReference{Name: r.Name})
	}
	if len(own) > 0 && !in.upstream() {
		return out
	}
	for _, name := range in.PullSecrets {
		if ref := (corev1.LocalObjectReference{Name: name}); !slices.Contains(out, ref) {
			out = append(out, ref)
		}
	}
	return out
}

func nodeSelector(in map[string]v1alpha1.LabelValue) map[string]string {
	if len(in) == 0 {
		return nil
	}
	out := make(map[string]string, len(in))
	for k, v := range in {
		out[k] = string(v)
	}
	return out
}
