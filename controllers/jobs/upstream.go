package jobs

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/hadoop-bench/operator/runner/plan"
)

// InstallContainer is the name of the init container that brings the runner into a Hadoop image's container.
const InstallContainer = "install"

// toolsDir is where the runner is in such a container, with a passwd and a group file in which its user has a name:
// Hadoop refuses to work for a nameless one.
const toolsDir = "/hadoopbench"

// upstream says whether the original tool does the work: the runner then runs in the user's Hadoop image.
func (in Input) upstream() bool {
	return in.Plan.NNThroughput != nil && in.Plan.NNThroughput.Engine == plan.EngineUpstream
}

// installer copies the runner and writes the two files. It runs before the container that mounts them begins.
func installer(in Input, like corev1.Container) corev1.Container {
	return corev1.Container{
		Name:                     InstallContainer,
		Image:                    in.Image,
		ImagePullPolicy:          like.ImagePullPolicy,
		Args:                     []string{"install", "-to", toolsDir},
		Resources:                *like.Resources.DeepCopy(),
		VolumeMounts:             []corev1.VolumeMount{{Name: volumeTools, MountPath: toolsDir}},
		TerminationMessagePath:   plan.ReportFile,
		TerminationMessagePolicy: corev1.TerminationMessageFallbackToLogsOnError,
		SecurityContext:          restricted(),
	}
}

// upstreamMounts are those that the Java tool needs beside the runner's: the root is read-only.
func upstreamMounts() []corev1.VolumeMount {
	return []corev1.VolumeMount{
		{Name: volumeTools, MountPath: toolsDir, ReadOnly: true},
		{Name: volumeTools, MountPath: "/etc/passwd", SubPath: "passwd", ReadOnly: true},
		{Name: volumeTools, MountPath: "/etc/group", SubPath: "group", ReadOnly: true},
		{Name: volumeWork, MountPath: plan.WorkDir},
		{Name: volumeTmp, MountPath: "/tmp"},
	}
}

// upstreamEnv is what the Java tool needs; the user's own variables come after it and win.
func upstreamEnv() []corev1.EnvVar { return []corev1.EnvVar{{Name: "HOME", Value: plan.WorkDir}} }
