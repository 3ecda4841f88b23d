package jobs

import (
	"path"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/hadoop-bench/operator/runner/plan"
)

// Names of the operator's volumes.
const (
	volumePlan   = "plan"
	volumePod    = "pod"
	volumeRun    = "run"
	volumeConf   = "conf"
	volumeKeytab = "keytab"
	volumeKrb5   = "krb5"
	volumeTools  = "tools"
	volumeWork   = "work"
	volumeTmp    = "tmp"
)

// OwnVolume says whether a volume's name is the operator's, in whatever run.
func OwnVolume(name string) bool {
	return slices.Contains([]string{
		volumePlan, volumePod, volumeRun, volumeConf, volumeKeytab, volumeKrb5, volumeTools, volumeWork, volumeTmp,
	}, name)
}

// readable is the mode of files in volumes: pods run under any user and group.
const readable = 0o444

func volumes(in Input) []corev1.Volume {
	annotation := func(path, key string) corev1.DownwardAPIVolumeFile {
		return corev1.DownwardAPIVolumeFile{
			Path:     path,
			FieldRef: &corev1.ObjectFieldSelector{APIVersion: "v1", FieldPath: "metadata.annotations['" + key + "']"},
		}
	}
	conf := emptyDir(volumeConf)
	if in.ConfigMap != "" {
		conf = configMap(volumeConf, in.ConfigMap)
	}
	out := []corev1.Volume{
		configMap(volumePlan, AttemptName(in.Name, in.Plan.Identity)),
		{Name: volumePod, VolumeSource: corev1.VolumeSource{DownwardAPI: &corev1.DownwardAPIVolumeSource{
			DefaultMode: ptr(int32(readable)),
			Items: []corev1.DownwardAPIVolumeFile{
				annotation("start-at", plan.AnnotationStartAt), annotation("stop", plan.AnnotationStop),
			},
		}}},
		emptyDir(volumeRun),
		conf,
	}
	if in.Plan.Target.Kerberos != nil {
		out = append(out, corev1.Volume{Name: volumeKeytab, VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{
			SecretName: in.KeytabSecret, DefaultMode: ptr(int32(readable)), Items: []corev1.KeyToPath{{Key: keytabKey, Path: keytabKey}},
		}}}, configMap(volumeKrb5, in.Krb5ConfigMap, krb5Key))
	}
	if in.upstream() {
		out = append(out, emptyDir(volumeTools), emptyDir(volumeWork), emptyDir(volumeTmp))
	}
	return out
}

// Keys of the keytab's Secret and of the ConfigMap with the Kerberos configuration: the names of the files in the pod.
const (
	keytabKey = "keytab"
	krb5Key   = "krb5.conf"
)

func emptyDir(name string) corev1.Volume {
	return corev1.Volume{Name: name, VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}
}

// configMap is the volume of a ConfigMap: of all its keys, or of some that must be there.
func configMap(name, source string, keys ...string) corev1.Volume {
	cm := &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: source}, DefaultMode: ptr(int32(readable))}
	for _, k := range keys {
		cm.Items = append(cm.Items, corev1.KeyToPath{Key: k, Path: k})
	}
	return corev1.Volume{Name: name, VolumeSource: corev1.VolumeSource{ConfigMap: cm}}
}

// mounts are where the runner finds the operator's volumes.
func mounts(in Input) []corev1.VolumeMount {
	out := []corev1.VolumeMount{
		{Name: volumePlan, MountPath: plan.Dir, ReadOnly: true},
		{Name: volumePod, MountPath: plan.PodInfoDir, ReadOnly: true},
		{Name: volumeRun, MountPath: plan.RunDir},
		{Name: volumeConf, MountPath: plan.ConfDir, ReadOnly: true},
	}
	if in.Plan.Target.Kerberos != nil {
		out = append(out,
			corev1.VolumeMount{Name: volumeKeytab, MountPath: path.Dir(plan.KeytabFile), ReadOnly: true},
			corev1.VolumeMount{Name: volumeKrb5, MountPath: path.Dir(plan.Krb5File), ReadOnly: true},
		)
	}
	if in.upstream() {
		out = append(out, upstreamMounts()...)
	}
	return out
}
