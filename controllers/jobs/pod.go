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
	return corev1.PodSpec{
		RestartPolicy:                 corev1.RestartPolicyNever,
		AutomountServiceAccountToken:  ptr(false),
		EnableServiceLinks:            ptr(false),
		TerminationGracePeriodSeconds: ptr(int64(30)),
		ServiceAccountName:            t.ServiceAccountName,
		PriorityClassName:             t.PriorityClassName,
		ImagePullSecrets:              pullSecrets(t.ImagePullSecrets, in.PullSecrets),
		NodeSelector:                  nodeSelector(t.NodeSelector),
		Affinity:                      t.Affinity,
		Tolerations:                   slices.Concat(t.Tolerations, lostNodeTolerations()),
		TopologySpreadConstraints:     spread(in, t.TopologySpreadConstraints),
		SecurityContext:               podSecurity(t.SecurityContext),
		Volumes:                       slices.Concat(volumes(in), t.Volumes),
		Containers:                    []corev1.Container{container(in, t)},
	}
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
		VolumeMounts: slices.Concat([]corev1.VolumeMount{
			{Name: "plan", MountPath: plan.Dir, ReadOnly: true},
			{Name: "pod", MountPath: plan.PodInfoDir, ReadOnly: true},
			{Name: "run", MountPath: plan.RunDir},
			{Name: "conf", MountPath: plan.ConfDir, ReadOnly: true},
		}, t.VolumeMounts),
		TerminationMessagePath:   plan.ReportFile,
		TerminationMessagePolicy: corev1.TerminationMessageReadFile,
		SecurityContext: &corev1.SecurityContext{
			AllowPrivilegeEscalation: ptr(false),
			ReadOnlyRootFilesystem:   ptr(true),
			Capabilities:             &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
		},
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
	if in.Plan.Gate {
		c.StartupProbe = startupProbe()
	}
	return c
}

// startupProbe makes a prepared shard Ready. It ends with its first success, and there is no readiness probe after it,
// so nothing is executed in the pod while it measures. Its limit never strikes: the operator's startDeadline does.
func startupProbe() *corev1.Probe {
	return &corev1.Probe{
		ProbeHandler:     corev1.ProbeHandler{Exec: &corev1.ExecAction{Command: []string{"/runner", "probe"}}},
		PeriodSeconds:    1,
		TimeoutSeconds:   10,
		FailureThreshold: 1 << 30,
		SuccessThreshold: 1,
	}
}

func volumes(in Input) []corev1.Volume {
	annotation := func(path, key string) corev1.DownwardAPIVolumeFile {
		return corev1.DownwardAPIVolumeFile{
			Path:     path,
			FieldRef: &corev1.ObjectFieldSelector{APIVersion: "v1", FieldPath: "metadata.annotations['" + key + "']"},
		}
	}
	conf := corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}
	if in.ConfigMap != "" {
		conf = corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{
			LocalObjectReference: corev1.LocalObjectReference{Name: in.ConfigMap}, DefaultMode: ptr(int32(0o444)),
		}}
	}
	return []corev1.Volume{
		{Name: "plan", VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{
			LocalObjectReference: corev1.LocalObjectReference{Name: AttemptName(in.Name, in.Plan.Identity)}, DefaultMode: ptr(int32(0o444)),
		}}},
		{Name: "pod", VolumeSource: corev1.VolumeSource{DownwardAPI: &corev1.DownwardAPIVolumeSource{
			DefaultMode: ptr(int32(0o444)),
			Items: []corev1.DownwardAPIVolumeFile{
				annotation("start-at", plan.AnnotationStartAt), annotation("stop", plan.AnnotationStop),
			},
		}}},
		{Name: "run", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}},
		{Name: "conf", VolumeSource: conf},
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

func pullSecrets(own []v1alpha1.LocalObjectReference, def []string) []corev1.LocalObjectReference {
	var out []corev1.LocalObjectReference
	for _, r := range own {
		out = append(out, corev1.LocalObjectReference{Name: r.Name})
	}
	if len(own) > 0 {
		return out
	}
	for _, name := range def {
		out = append(out, corev1.LocalObjectReference{Name: name})
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
