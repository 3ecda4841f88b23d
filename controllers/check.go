package controllers

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/hadoop-bench/operator/api/v1alpha1"
	"github.com/hadoop-bench/operator/controllers/jobs"
	"github.com/hadoop-bench/operator/runner/plan"
)

// Support says which of the shared fields a kind can carry out.
type Support struct {
	Engines  []v1alpha1.Engine     // the first one is the default
	Clients  []v1alpha1.ClientKind // the first one is the default
	Warmup   bool
	Kerberos bool
	HTTP     bool // asks the servers' web addresses
	LocalFS  bool // works without a cluster, on file:///
	HBase    bool // works on HBase, not on a file system

	// KeepResults: a cleanup step removes what the run wrote, unless it is told to keep it.
	KeepResults bool
}

// check returns all that is wrong with a run's spec.
func check(b Benchmark, run Run) []Problem {
	spec, _ := run.RunObject()
	return append(checkShared(b, spec), b.Check(run)...)
}

// checkShared returns what is wrong with the shared fields.
func checkShared(b Benchmark, spec *v1alpha1.RunSpec) []Problem {
	var out []Problem
	refuse := func(asked bool, field, val, remedy string) {
		if asked {
			out = append(out, notSupported(field, val, remedy))
		}
	}
	refuse(spec.ShardFailurePolicy != "" && spec.ShardFailurePolicy != v1alpha1.ShardFailureFail, "shardFailurePolicy", string(spec.ShardFailurePolicy), "use Fail")
	refuse(spec.TTLAfterFinished != nil, "ttlAfterFinished", "deletion of finished runs", "remove it")
	refuse(len(spec.Thresholds) > 0, "thresholds", "judging by thresholds", "remove it")
	refuse(spec.Baseline != nil, "baseline", "comparison with a baseline", "remove it")
	refuse(spec.SuccessCriteria == v1alpha1.SuccessThresholdsMet, "successCriteria", "ThresholdsMet", "use Completed or Valid")
	refuse(spec.Target.TLS != nil, "target.tls", "TLS", "remove it")
	out = append(out, checkSupport(b, spec)...)
	out = append(out, checkTarget(b.Supports(), &spec.Target)...)
	return append(append(out, checkDurations(spec)...), checkTemplate(spec.PodTemplate)...)
}

// checkSupport refuses shared fields that the kind cannot carry out.
func checkSupport(b Benchmark, spec *v1alpha1.RunSpec) []Problem {
	var out []Problem
	can, t := b.Supports(), spec.Target
	refuse := func(asked bool, field, val, remedy string) {
		if asked {
			out = append(out, Problem{v1alpha1.ReasonNotSupported, fmt.Sprintf("spec.%s: %s is not supported yet for %s; %s", field, val, b.Kind(), remedy)})
		}
	}
	refuse(!can.Warmup && spec.Warmup != nil && spec.Warmup.Duration.Duration > 0, "warmup", "a warm-up", "remove it")
	refuse(spec.Engine != "" && !slices.Contains(can.Engines, spec.Engine), "engine", string(spec.Engine), "use "+string(can.Engines[0]))
	refuse(spec.Client != "" && !slices.Contains(can.Clients, spec.Client), "client", string(spec.Client), "use "+string(can.Clients[0]))
	refuse(!can.Kerberos && t.Kerberos != nil, "target.kerberos", "Kerberos", "use a cluster with simple authentication")
	refuse(!can.HTTP && t.HTTP != nil, "target.http", "asking web addresses", "remove it")
	refuse(!can.LocalFS && !can.HBase && isLocal(&t), localField(&t), targetFS(&t), "use hdfs://")
	return out
}

// targetFS is the file system's URI as far as the spec says it; the Hadoop configuration may say another one.
func targetFS(t *v1alpha1.Target) string {
	return orDefault(t.FS, string(t.Properties["fs.defaultFS"]))
}

// isLocal says whether the target is no cluster at all.
func isLocal(t *v1alpha1.Target) bool { return strings.HasPrefix(targetFS(t), "file:") }

// localField is the field that targetFS is from.
func localField(t *v1alpha1.Target) string {
	if t.FS == "" {
		return "target.properties"
	}
	return "target.fs"
}

func checkTarget(can Support, t *v1alpha1.Target) []Problem {
	out := checkCluster(can, t)
	if !can.HBase && t.HadoopConfig == nil && targetFS(t) == "" {
		out = append(out, invalid("target", "neither hadoopConfig nor fs", "name the ConfigMap of the cluster's configuration in spec.target.hadoopConfig.configMapRef, or the NameNode in spec.target.fs or in fs.defaultFS of spec.target.properties"))
	}
	if k := t.Kerberos; k != nil && can.Kerberos {
		if user, realm, ok := strings.Cut(k.Principal, "@"); !ok || user == "" || realm == "" || strings.Contains(realm, "@") {
			out = append(out, invalid("target.kerberos.principal", k.Principal, "write it as user@REALM"))
		}
		if t.User != "" {
			out = append(out, invalid("target.user", t.User, "remove it: with Kerberos the principal is the user"))
		}
	}
	if t.HTTP != nil && can.HTTP {
		out = append(out, checkAddresses(can, t.HTTP)...)
	}
	return out
}

// hbaseProperties are the properties each of which says where an HBase cluster is.
var hbaseProperties = []string{"hbase.zookeeper.quorum", "hbase.masters", "hbase.client.bootstrap.servers"}

// checkCluster looks at what says where the HBase cluster is; a file system says nothing about it.
func checkCluster(can Support, t *v1alpha1.Target) []Problem {
	if !can.HBase {
		return nil
	}
	var out []Problem
	if t.FS != "" {
		out = append(out, invalid("target.fs", t.FS, "remove it: this kind works on HBase, which hbase-site.xml of spec.target.hadoopConfig or spec.target.properties name"))
	}
	named := slices.ContainsFunc(hbaseProperties, func(p string) bool { return t.Properties[p] != "" })
	if t.HadoopConfig == nil && !named {
		out = append(out, invalid("target", "neither hadoopConfig nor hbase.zookeeper.quorum", "name the ConfigMap with the cluster's hbase-site.xml in spec.target.hadoopConfig.configMapRef, or set hbase.zookeeper.quorum, hbase.masters or hbase.client.bootstrap.servers in spec.target.properties"))
	}
	return out
}

// checkAddresses looks at web addresses: only those of the kind's own servers are asked.
func checkAddresses(can Support, h *v1alpha1.HTTPAddresses) []Problem {
	var out []Problem
	for _, list := range []struct {
		field     string
		addresses []string
		hbase     bool
	}{{"nameNodes", h.NameNodes, false}, {"masters", h.Masters, true}, {"regionServers", h.RegionServers, true}} {
		field := "target.http." + list.field
		if list.hbase != can.HBase {
			if len(list.addresses) > 0 {
				out = append(out, invalid(field, list.addresses, "remove it: this kind has nothing to do with such servers"))
			}
			continue
		}
		for i, address := range list.addresses {
			if u, err := url.Parse(address); err != nil || u.Scheme != "http" || u.Host == "" || strings.Trim(u.Path, "/") != "" || u.RawQuery != "" {
				out = append(out, invalid(fmt.Sprintf("%s[%d]", field, i), address, "write it as http://host:port"))
			}
		}
	}
	return out
}

func checkDurations(spec *v1alpha1.RunSpec) []Problem {
	var out []Problem
	for _, f := range []struct {
		field string
		d     *v1alpha1.Duration
	}{
		{"startDeadline", spec.StartDeadline}, {"activeDeadline", spec.ActiveDeadline}, {"maxStartSpread", spec.MaxStartSpread},
	} {
		if f.d != nil && f.d.Duration.Duration <= 0 {
			out = append(out, invalid(f.field, f.d.Duration.Duration, "give a duration above zero, or remove it"))
		}
	}
	for _, f := range []struct {
		field string
		d     *v1alpha1.Duration
	}{{"minDuration", spec.MinDuration}, {"warmup", spec.Warmup}} {
		if f.d != nil && f.d.Duration.Duration < 0 {
			out = append(out, invalid(f.field, f.d.Duration.Duration, "give a duration of zero or more"))
		}
	}
	return out
}

// checkTemplate refuses what has a meaning for the operator or the Job controller: a pod that says otherwise would be
// overlooked, or do another's work.
func checkTemplate(t *v1alpha1.PodTemplate) []Problem {
	if t == nil {
		return nil
	}
	var out []Problem
	check := func(field, key string) {
		domain, _, _ := strings.Cut(key, "/")
		if domain == "hadoopbench.dev" || strings.HasSuffix(domain, ".hadoopbench.dev") || domain == "batch.kubernetes.io" || key == "app.kubernetes.io/managed-by" || key == "job-name" || key == "controller-uid" {
			out = append(out, invalid("podTemplate."+field, key, "choose a key outside hadoopbench.dev and batch.kubernetes.io"))
		}
		if field == "labels" && key == "kueue.x-k8s.io/queue-name" {
			out = append(out, notSupported("podTemplate.labels", key, "remove it"))
		}
	}
	for _, k := range slices.Sorted(maps.Keys(t.Labels)) {
		check("labels", k)
	}
	for _, k := range slices.Sorted(maps.Keys(t.Annotations)) {
		check("annotations", k)
		if k == "cluster-autoscaler.kubernetes.io/safe-to-evict" || k == "karpenter.sh/do-not-disrupt" {
			out = append(out, invalid("podTemplate.annotations", k, "remove it: the operator keeps nodes with measuring pods"))
		}
	}
	for _, e := range t.Env {
		if e.Name == plan.IndexEnv || e.Name == plan.NodeEnv {
			out = append(out, invalid("podTemplate.env", e.Name, "choose another name: the operator sets this one"))
		}
	}
	for _, v := range t.Volumes {
		if jobs.OwnVolume(v.Name) {
			out = append(out, invalid("podTemplate.volumes", v.Name, "choose another name: the operator has a volume of this one"))
		}
	}
	return out
}
