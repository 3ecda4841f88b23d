package controllers

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/hadoop-bench/operator/api/v1alpha1"
)

// TestCheckShared holds what no walk over the fields finds: values that are impossible, and combinations.
func TestCheckShared(t *testing.T) {
	template := func(edit func(*v1alpha1.PodTemplate)) func(*v1alpha1.RunSpec) {
		return func(s *v1alpha1.RunSpec) { s.PodTemplate = &v1alpha1.PodTemplate{}; edit(s.PodTemplate) }
	}
	const choose = " is invalid; choose a key outside hadoopbench.dev and batch.kubernetes.io"
	tests := map[string]struct {
		edit func(*v1alpha1.RunSpec)
		want []string
	}{
		"fine": {func(*v1alpha1.RunSpec) {}, nil},
		"no target": {
			func(s *v1alpha1.RunSpec) { s.Target = v1alpha1.Target{User: "hdfs"} },
			[]string{"InvalidSpec spec.target: neither hadoopConfig nor fs is invalid; name the ConfigMap of the cluster's configuration in spec.target.hadoopConfig.configMapRef, or the NameNode in spec.target.fs or in fs.defaultFS of spec.target.properties"},
		},
		"target in the properties": {
			func(s *v1alpha1.RunSpec) {
				s.Target = v1alpha1.Target{Properties: map[string]v1alpha1.PropertyValue{"fs.defaultFS": "hdfs://namenode:8020"}}
			}, nil,
		},
		"no warm-up":    {func(s *v1alpha1.RunSpec) { s.Warmup = duration(0) }, nil},
		"defaults told": {func(s *v1alpha1.RunSpec) { s.Engine, s.Client, s.ShardFailurePolicy = "Native", "Colinmarc", "Fail" }, nil},
		"Ignore":        {func(s *v1alpha1.RunSpec) { s.ShardFailurePolicy = v1alpha1.ShardFailureIgnore }, []string{"NotSupported spec.shardFailurePolicy: Ignore is not supported yet; use Fail"}},
		"durations of nothing": {
			func(s *v1alpha1.RunSpec) {
				s.StartDeadline, s.ActiveDeadline, s.MaxStartSpread, s.MinDuration = duration(0), duration(-1), duration(0), duration(-time.Second)
			},
			[]string{
				"InvalidSpec spec.startDeadline: 0s is invalid; give a duration above zero, or remove it",
				"InvalidSpec spec.activeDeadline: -1ns is invalid; give a duration above zero, or remove it",
				"InvalidSpec spec.maxStartSpread: 0s is invalid; give a duration above zero, or remove it",
				"InvalidSpec spec.minDuration: -1s is invalid; give a duration of zero or more",
			},
		},
		"negative warm-up": {
			func(s *v1alpha1.RunSpec) { s.Warmup = duration(-time.Second) },
			[]string{"InvalidSpec spec.warmup: -1s is invalid; give a duration of zero or more"},
		},
		"local file system": {
			func(s *v1alpha1.RunSpec) { s.Target.FS = "file:///" },
			[]string{"NotSupported spec.target.fs: file:/// is not supported yet for DFSIORun; use hdfs://"},
		},
		"local file system in the properties": {
			func(s *v1alpha1.RunSpec) {
				s.Target = v1alpha1.Target{Properties: map[string]v1alpha1.PropertyValue{"fs.defaultFS": "file:///tmp"}}
			},
			[]string{"NotSupported spec.target.properties: file:///tmp is not supported yet for DFSIORun; use hdfs://"},
		},
		"no minimum": {func(s *v1alpha1.RunSpec) { s.MinDuration = duration(0) }, nil},
		"reserved labels": {
			template(func(p *v1alpha1.PodTemplate) {
				p.Labels = map[string]v1alpha1.LabelValue{
					"hadoopbench.dev/run": "", "x.hadoopbench.dev/y": "", "job-name": "", "controller-uid": "", "app.kubernetes.io/managed-by": "",
					"batch.kubernetes.io/job-name": "", "kueue.x-k8s.io/queue-name": "q", "myhadoopbench.dev/fine": "", "app.kubernetes.io/name": "",
				}
			}),
			[]string{
				"InvalidSpec spec.podTemplate.labels: app.kubernetes.io/managed-by" + choose, "InvalidSpec spec.podTemplate.labels: batch.kubernetes.io/job-name" + choose,
				"InvalidSpec spec.podTemplate.labels: controller-uid" + choose, "InvalidSpec spec.podTemplate.labels: hadoopbench.dev/run" + choose,
				"InvalidSpec spec.podTemplate.labels: job-name" + choose, "NotSupported spec.podTemplate.labels: kueue.x-k8s.io/queue-name is not supported yet; remove it",
				"InvalidSpec spec.podTemplate.labels: x.hadoopbench.dev/y" + choose,
			},
		},
		"reserved annotations": {
			template(func(p *v1alpha1.PodTemplate) {
				p.Annotations = map[string]v1alpha1.AnnotationValue{"hadoopbench.dev/start-at": "now", "karpenter.sh/do-not-disrupt": "false", "kueue.x-k8s.io/queue-name": "q"}
			}),
			[]string{
				"InvalidSpec spec.podTemplate.annotations: hadoopbench.dev/start-at" + choose,
				"InvalidSpec spec.podTemplate.annotations: karpenter.sh/do-not-disrupt is invalid; remove it: the operator keeps nodes with measuring pods",
			},
		},
		"reserved volumes": {
			template(func(p *v1alpha1.PodTemplate) {
				p.Volumes = []corev1.Volume{{Name: "plan"}, {Name: "mine"}, {Name: "conf"}, {Name: "keytab"}}
			}),
			[]string{
				"InvalidSpec spec.podTemplate.volumes: plan is invalid; choose another name: the operator has a volume of this one",
				"InvalidSpec spec.podTemplate.volumes: conf is invalid; choose another name: the operator has a volume of this one",
				"InvalidSpec spec.podTemplate.volumes: keytab is invalid; choose another name: the operator has a volume of this one",
			},
		},
		"reserved variables": {
			template(func(p *v1alpha1.PodTemplate) {
				p.Env = []corev1.EnvVar{{Name: "JOB_COMPLETION_INDEX", Value: "0"}, {Name: "GOMAXPROCS", Value: "2"}}
			}),
			[]string{"InvalidSpec spec.podTemplate.env: JOB_COMPLETION_INDEX is invalid; choose another name: the operator sets this one"},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			run := newRun()
			tc.edit(&run.Spec.RunSpec)
			wantSlice(t, "problems", tc.want, problems(checkShared(DFSIO{}, &run.Spec.RunSpec)))
		})
	}
}

// TestCheckTarget holds what only a kind with Kerberos and web addresses comes to.
func TestCheckTarget(t *testing.T) {
	kerberos := func(principal string) func(*v1alpha1.Target) {
		return func(t *v1alpha1.Target) { t.Kerberos = &v1alpha1.Kerberos{Principal: principal} }
	}
	principal := func(p string) []string {
		return []string{"InvalidSpec spec.target.kerberos.principal: " + p + " is invalid; write it as user@REALM"}
	}
	address := func(a string) func(*v1alpha1.Target) {
		return func(t *v1alpha1.Target) { t.HTTP = &v1alpha1.HTTPAddresses{NameNodes: []string{"http://nn1:9870/", a}} }
	}
	badAddress := func(a string) []string {
		return []string{"InvalidSpec spec.target.http.nameNodes[1]: " + a + " is invalid; write it as http://host:port"}
	}
	tests := map[string]struct {
		edit func(*v1alpha1.Target)
		want []string
	}{
		"user":        {kerberos("bench@EXAMPLE.COM"), nil},
		"service":     {kerberos("bench/host.example.com@EXAMPLE.COM"), nil},
		"no realm":    {kerberos("bench"), principal("bench")},
		"empty realm": {kerberos("bench@"), principal("bench@")},
		"no user":     {kerberos("@EXAMPLE.COM"), principal("@EXAMPLE.COM")},
		"two realms":  {kerberos("bench@A@B"), principal("bench@A@B")},
		"principal and user": {
			func(t *v1alpha1.Target) { kerberos("bench@A")(t); t.User = "hdfs" },
			[]string{"InvalidSpec spec.target.user: hdfs is invalid; remove it: with Kerberos the principal is the user"},
		},
		"address":            {address("http://nn2:9870"), nil},
		"secure address":     {address("https://nn2:9871"), badAddress("https://nn2:9871")},
		"host alone":         {address("nn2:9870"), badAddress("nn2:9870")},
		"address of a page":  {address("http://nn2:9870/jmx"), badAddress("http://nn2:9870/jmx")},
		"address of nothing": {address("http://"), badAddress("http://")},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			run := newNNThroughputRun()
			tc.edit(&run.Spec.Target)
			wantSlice(t, "problems", tc.want, problems(checkShared(NNThroughput{}, &run.Spec.RunSpec)))
		})
	}
}
