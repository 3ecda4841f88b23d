package v1alpha1_test

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/discovery"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/hadoop-bench/operator/api/v1alpha1"
)

// violation is a value that one bound of the schema forbids.
type violation struct {
	bound string
	value any
}

// violations returns one value for each bound of a schema that a value can break.
func violations(s apiextensionsv1.JSONSchemaProps, valid any) []violation {
	var list []violation
	if s.Enum != nil {
		list = append(list, violation{"enum", "bogus"})
	}
	if s.Pattern != "" {
		list = append(list, violation{"pattern", "?"})
	}
	if s.MaxLength != nil {
		list = append(list, violation{"maxLength", strings.Repeat("1", int(*s.MaxLength)+1)})
	}
	if s.MinLength != nil {
		list = append(list, violation{"minLength", ""})
	}
	if s.Minimum != nil {
		list = append(list, violation{"minimum", int64(*s.Minimum) - 1})
	}
	if s.Maximum != nil {
		list = append(list, violation{"maximum", int64(*s.Maximum) + 1})
	}
	if s.MinItems != nil {
		list = append(list, violation{"minItems", []any{}})
	}
	if s.MaxItems != nil {
		list = append(list, violation{"maxItems", slices.Repeat(valid.([]any), int(*s.MaxItems)+1)})
	}
	if s.MaxProperties != nil {
		many := map[string]any{}
		for i := range *s.MaxProperties + 1 {
			many[fmt.Sprint("k", i)] = "1"
		}
		list = append(list, violation{"maxProperties", many})
	}
	return list
}

// edit changes a value somewhere in a spec.
type edit struct {
	schema apiextensionsv1.JSONSchemaProps
	where  string
	valid  any
	apply  func(value any)
}

// edits walks schema and spec together, as far as the schema is of this API. The spec has a value everywhere.
func edits(t *testing.T, s apiextensionsv1.JSONSchemaProps, where string, valid any, apply func(any)) []edit {
	t.Helper()
	list := []edit{{s, where, valid, apply}}
	switch v := valid.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			property, ok := s.Properties[key]
			if !ok && s.AdditionalProperties != nil {
				property = *s.AdditionalProperties.Schema
			}
			if isCoreField(where, key) {
				// The field's own bound is ours, what is below is not.
				list = append(list, edit{property, where + "." + key, v[key], func(value any) { v[key] = value }})
				continue
			}
			list = append(list, edits(t, property, where+"."+key, v[key], func(value any) { v[key] = value })...)
		}
	case []any:
		list = append(list, edits(t, *s.Items.Schema, where+"[0]", v[0], func(value any) { v[0] = value })...)
	}
	return list
}

// TestEveryBoundIsEnforced breaks every enum, pattern and bound of the schema, one at a time. What the walk meets is
// what the schema has, so a new field is covered as soon as the full specs have it.
func TestEveryBoundIsEnforced(t *testing.T) {
	c := newClient(t)
	forKinds(t, func(t *testing.T, k kind) {
		schema := k.specSchema(t)
		spec, _ := k.full(t)
		checks := 0
		for _, e := range edits(t, schema, "spec", spec, nil) {
			for _, v := range violations(e.schema, e.valid) {
				t.Run(e.where+"/"+v.bound, func(t *testing.T) {
					e.apply(v.value)
					defer e.apply(e.valid)
					err := c.Create(t.Context(), k.object("bounds", spec), client.DryRunAll)
					// The API server writes keys of maps after a dot, as here, and the field in front of each message.
					if got := causes(t, err); !slices.ContainsFunc(got, func(c cause) bool { return c.Field == e.where }) {
						t.Errorf("causes = %v, want one for field %s", got, e.where)
					}
					if !strings.Contains(err.Error(), e.where+": ") {
						t.Errorf("message %q does not name %s", err, e.where)
					}
				})
				checks++
			}
		}
		if checks < k.bounds {
			t.Errorf("%d bounds were tried, want at least %d", checks, k.bounds)
		}
	})
}

// ruleCase is a spec without what minimal has of the kind's own, and what the API server says to it.
type ruleCase struct {
	spec  string
	field string // empty: accepted
	want  string
}

func checkRules(t *testing.T, c client.Client, k kind, tests map[string]ruleCase) {
	t.Helper()
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			err := c.Create(t.Context(), k.object("rules", parse(t, tc.spec)), client.DryRunAll)
			if tc.field == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			got := causes(t, err)
			if !slices.ContainsFunc(got, func(c cause) bool { return c.Field == tc.field && strings.Contains(c.Message, tc.want) }) {
				t.Errorf("causes = %v, want %s: %s", got, tc.field, tc.want)
			}
		})
	}
}

func TestRulesOfSharedFields(t *testing.T) {
	c := newClient(t)
	const (
		noTarget   = "target says nowhere which cluster to use: set hadoopConfig.configMapRef, or fs or fs.defaultFS in properties for HDFS, or hbase.zookeeper.quorum in properties for HBase"
		noBar      = "a threshold without min and max is met by everything: set min, max or both"
		noneToMeet = "successCriteria ThresholdsMet would never be met without thresholds: add thresholds or choose Completed or Valid"
	)
	forKinds(t, func(t *testing.T, k kind) {
		spec := func(text string) string { return "{" + text + ", " + k.own + "}" }
		checkRules(t, c, k, map[string]ruleCase{
			"target empty":                   {spec(`target: {}`), "spec.target", noTarget},
			"target with fs empty":           {spec(`target: {fs: ""}`), "spec.target", noTarget},
			"target with other property":     {spec(`target: {properties: {a: b}}`), "spec.target", noTarget},
			"target with fs":                 {spec(`target: {fs: "hdfs://n:8020"}`), "", ""},
			"target with local fs":           {spec(`target: {fs: "file:///"}`), "", ""},
			"target with fs.defaultFS":       {spec(`target: {properties: {fs.defaultFS: "hdfs://n:8020"}}`), "", ""},
			"target with a quorum":           {spec(`target: {properties: {hbase.zookeeper.quorum: z}}`), "", ""},
			"target with masters":            {spec(`target: {properties: {hbase.masters: m}}`), "", ""},
			"target with config":             {spec(`target: {hadoopConfig: {configMapRef: {name: c}}}`), "", ""},
			"threshold without bar":          {spec(`target: {fs: "hdfs://n"}, thresholds: [{step: write, figure: P99}]`), "spec.thresholds[0]", noBar},
			"threshold with max":             {spec(`target: {fs: "hdfs://n"}, thresholds: [{step: write, figure: P99, max: "1"}]`), "", ""},
			"ThresholdsMet, no thresholds":   {spec(`target: {fs: "hdfs://n"}, successCriteria: ThresholdsMet`), "spec.successCriteria", noneToMeet},
			"ThresholdsMet, thresholds []":   {spec(`target: {fs: "hdfs://n"}, successCriteria: ThresholdsMet, thresholds: []`), "spec.successCriteria", noneToMeet},
			"ThresholdsMet with a threshold": {spec(`target: {fs: "hdfs://n"}, successCriteria: ThresholdsMet, thresholds: [{step: write, figure: P99, max: "1"}]`), "", ""},
			"fs of another scheme":           {spec(`target: {fs: "s3a://bucket"}`), "spec.target.fs", "should match '^(hdfs://"},
			"duration without unit":          {spec(`target: {fs: "hdfs://n"}, minDuration: "5"`), "spec.minDuration", "should match '^([0-9]"},
			"duration of several units":      {spec(`target: {fs: "hdfs://n"}, minDuration: 1h30m0s`), "", ""},
			"target missing":                 {"{" + k.own + "}", "spec.target", "Required value"},
		})
	})
}

func TestRulesOfDFSIORun(t *testing.T) {
	const tooWide = "parallelism is more than nrFiles: raise nrFiles or leave parallelism out"
	checkRules(t, newClient(t), kinds[0], map[string]ruleCase{
		"parallelism over nrFiles":     {`{target: {fs: "hdfs://n"}, tests: [write], nrFiles: 3, parallelism: 4}`, "spec.parallelism", tooWide},
		"parallelism over default":     {`{target: {fs: "hdfs://n"}, tests: [write], parallelism: 2}`, "spec.parallelism", tooWide},
		"parallelism equal to nrFiles": {`{target: {fs: "hdfs://n"}, tests: [write], nrFiles: 4, parallelism: 4}`, "", ""},
		"parallelism equal to default": {`{target: {fs: "hdfs://n"}, tests: [write], parallelism: 1}`, "", ""},
		"size zero":                    {`{target: {fs: "hdfs://n"}, tests: [write], size: "0"}`, "spec.size", "should match '^0*[1-9]"},
		"baseDir relative":             {`{target: {fs: "hdfs://n"}, tests: [write], baseDir: a}`, "spec.baseDir", "should match '^/"},
		"baseDir root":                 {`{target: {fs: "hdfs://n"}, tests: [write], baseDir: /}`, "spec.baseDir", "should match '^/"},
		"test unknown":                 {`{target: {fs: "hdfs://n"}, tests: [write, erase]}`, "spec.tests[1]", `Unsupported value: "erase"`},
		"tests missing":                {`{target: {fs: "hdfs://n"}}`, "spec.tests", "Required value"},
	})
}

func TestRulesOfNNThroughputRun(t *testing.T) {
	const (
		tooFew    = "threads is less than shards, so that some pods would have none: raise threads (default 3) or lower shards"
		bothBases = "baseDirName and baseDirNames exclude each other: leave one of them out"
		superUser = "only a superuser can change the safe mode: leave manageSafeMode or nonSuperUser out"
	)
	spec := func(text string) string { return `{target: {fs: "hdfs://n"}, operations: [open], ` + text + "}" }
	checkRules(t, newClient(t), kinds[1], map[string]ruleCase{
		"operation unknown":           {`{target: {fs: "hdfs://n"}, operations: [open, close]}`, "spec.operations[1]", `Unsupported value: "close"`},
		"operations missing":          {`{target: {fs: "hdfs://n"}}`, "spec.operations", "Required value"},
		"threads fewer than shards":   {spec("threads: 4, shards: 5"), "spec.shards", tooFew},
		"default threads, shards":     {spec("shards: 4"), "spec.shards", tooFew},
		"threads equal to shards":     {spec("threads: 5, shards: 5"), "", ""},
		"default threads, 3 shards":   {spec("shards: 3"), "", ""},
		"one thread, default shards":  {spec("threads: 1"), "", ""},
		"operations without threads":  {`{target: {fs: "hdfs://n"}, operations: [blockReport, replication, clean], shards: 4}`, "", ""},
		"one operation with threads":  {`{target: {fs: "hdfs://n"}, operations: [blockReport, mkdirs], shards: 4}`, "spec.shards", tooFew},
		"all with shards":             {`{target: {fs: "hdfs://n"}, operations: [all], shards: 4}`, "spec.shards", tooFew},
		"base directory and several":  {spec("baseDirName: /a, baseDirNames: [/b]"), "spec.baseDirNames", bothBases},
		"base directories":            {spec("baseDirNames: [/a, /b]"), "", ""},
		"base directory relative":     {spec("baseDirName: a"), "spec.baseDirName", "should match '^/"},
		"second base directory root":  {spec("baseDirNames: [/a, /]"), "spec.baseDirNames[1]", "should match '^/"},
		"safe mode, no superuser":     {spec("manageSafeMode: true, nonSuperUser: true"), "spec.manageSafeMode", superUser},
		"safe mode, superuser":        {spec("manageSafeMode: true, nonSuperUser: false"), "", ""},
		"block size with suffix":      {spec("blockSize: 16M"), "", ""},
		"block size in bytes":         {spec(`blockSize: "1048576"`), "", ""},
		"block size in TestDFSIO's":   {spec("blockSize: 16MB"), "spec.blockSize", "should match '^0*[1-9]"},
		"block size zero":             {spec(`blockSize: "0"`), "spec.blockSize", "should match '^0*[1-9]"},
		"rate with decimals":          {spec(`rate: "0.125"`), "", ""},
		"rate in four places":         {spec(`rate: "0.1255"`), "spec.rate", "should match '^[0-9]"},
		"rate negative":               {spec(`rate: "-1"`), "spec.rate", "should match '^[0-9]"},
		"log level in another case":   {spec("logLevel: error"), "spec.logLevel", `Unsupported value: "error"`},
		"more DataNodes than a short": {spec("datanodes: 32767"), "spec.datanodes", "less than or equal to 32766"},
		"files beyond 32 bits":        {spec("files: 100000000000"), "", ""},
	})
}

func TestRulesOfYCSBRun(t *testing.T) {
	const (
		tooFew  = "threads is less than shards, so that some pods would have none: raise threads (default 1) or lower shards"
		both    = "useExisting and load exclude each other: leave one of them out"
		endless = "a workload without an end: set operationCount or duration"
		nothing = "a workload without operations: set preset, or proportions"
	)
	spec := func(text string) string {
		return `{target: {properties: {hbase.zookeeper.quorum: z}}, table: {}, recordCount: 1000, ` + text + "}"
	}
	workload := func(text string) string { return spec("workloads: [{" + text + "}]") }
	checkRules(t, newClient(t), kinds[2], map[string]ruleCase{
		"record count missing":       {`{target: {fs: "hdfs://n"}, table: {}}`, "spec.recordCount", "Required value"},
		"table missing":              {`{target: {fs: "hdfs://n"}, recordCount: 1}`, "spec.table", "Required value"},
		"records beyond 32 bits":     {`{target: {fs: "hdfs://n"}, table: {}, recordCount: 10000000000}`, "", ""},
		"threads fewer than shards":  {spec("threads: 4, shards: 5"), "spec.shards", tooFew},
		"default threads, shards":    {spec("shards: 2"), "spec.shards", tooFew},
		"threads equal to shards":    {spec("threads: 5, shards: 5"), "", ""},
		"useExisting and load":       {spec("useExisting: true, load: {}"), "spec.useExisting", both},
		"useExisting false and load": {spec("useExisting: false, load: {}"), "", ""},
		"workload of a preset":       {workload("preset: A, duration: 1m"), "", ""},
		"workload without an end":    {workload("preset: A"), "spec.workloads[0]", endless},
		"workload of proportions":    {workload(`name: w, scanProportion: "1", operationCount: 1`), "", ""},
		"workload without any":       {workload("name: w, operationCount: 1"), "spec.workloads[0]", nothing},
		"preset unknown":             {workload("preset: G, duration: 1m"), "spec.workloads[0].preset", `Unsupported value: "G"`},
		"proportion negative":        {workload(`preset: A, duration: 1m, readProportion: "-1"`), "spec.workloads[0].readProportion", "should match '^[0-9]"},
		"name of a step":             {workload("name: Workload A, preset: A, duration: 1m"), "spec.workloads[0].name", "should match '^[a-z]"},
		"table in a namespace":       {`{target: {fs: "hdfs://n"}, table: {name: "bench:t.1-a"}, recordCount: 1}`, "", ""},
		"table of two namespaces":    {`{target: {fs: "hdfs://n"}, table: {name: "a:b:c"}, recordCount: 1}`, "spec.table.name", "should match '^("},
		"histogram of lengths":       {spec("fieldLengthDistribution: histogram"), "spec.fieldLengthDistribution", `Unsupported value: "histogram"`},
	})
}

func TestUnknownFieldsAreRefused(t *testing.T) {
	c := newClient(t)
	forKinds(t, func(t *testing.T, k kind) {
		tests := map[string][]string{
			"spec." + k.misspelt:                      {k.misspelt},
			"spec.target.filesystem":                  {"target", "filesystem"},
			"spec.podTemplate.ressources":             {"podTemplate", "ressources"},
			"spec.podTemplate.resources.limit":        {"podTemplate", "resources", "limit"},
			"spec.podTemplate.securityContext.runsAs": {"podTemplate", "securityContext", "runsAs"},
		}
		spec, _ := k.full(t)
		for want, path := range tests {
			t.Run(want, func(t *testing.T) {
				object := k.object("unknown", with(t, spec, "x", path...))
				err := c.Create(t.Context(), object, client.DryRunAll)
				if message := fmt.Sprintf("unknown field %q", want); !apierrors.IsBadRequest(err) || !strings.Contains(err.Error(), message) {
					t.Errorf("error = %v, want a bad request with %s", err, message)
				}
			})
		}
	})
}

// TestNothingIsPersistedIntoTheSpec would find a default, which a GitOps tool reports as drift for ever.
func TestNothingIsPersistedIntoTheSpec(t *testing.T) {
	c := newClient(t)
	forKinds(t, func(t *testing.T, k kind) {
		full, _ := k.full(t)
		specs := map[string]map[string]any{"minimal": k.minimal(t), "all": k.accepted(full)}
		for file, sample := range k.samples(t) {
			specs[file] = sample["spec"].(map[string]any)
		}
		for name, spec := range specs {
			t.Run(name, func(t *testing.T) {
				want := k.object(objectName("persisted", name), spec)
				if err := apply(t, c, want); err != nil {
					t.Fatal(err)
				}
				if err := apply(t, c, want); err != nil {
					t.Fatal("apply again:", err)
				}
				got := k.object(want.GetName(), nil)
				if err := c.Get(t.Context(), client.ObjectKeyFromObject(got), got); err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(spec, got.Object["spec"]); diff != "" {
					t.Errorf("spec (-sent +stored):\n%s", diff)
				}
				if got.GetGeneration() != 1 {
					t.Errorf("generation = %d after applying the same twice, want 1", got.GetGeneration())
				}
			})
		}
	})
}

// apply is server-side apply of a copy of the object.
func apply(t *testing.T, c client.Client, u *unstructured.Unstructured) error {
	t.Helper()
	return c.Apply(t.Context(), client.ApplyConfigurationFromUnstructured(u.DeepCopy()), client.FieldOwner("test"))
}

// TestNewRunIsUnfinished: without the default kstatus would take a run for done before the operator has seen it.
func TestNewRunIsUnfinished(t *testing.T) {
	c := newClient(t)
	forKinds(t, func(t *testing.T, k kind) {
		withStatus := k.object("status-empty", k.minimal(t))
		withStatus.Object["status"] = map[string]any{}
		create := func(u *unstructured.Unstructured) error { return c.Create(t.Context(), u) }
		tests := map[string]struct {
			object *unstructured.Unstructured
			send   func(*unstructured.Unstructured) error
		}{
			"created":                   {k.object("status-created", k.minimal(t)), create},
			"created with empty status": {withStatus, create},
			"applied": {
				k.object("status-applied", k.minimal(t)),
				func(u *unstructured.Unstructured) error { return apply(t, c, u) },
			},
		}
		for name, tc := range tests {
			t.Run(name, func(t *testing.T) {
				if err := tc.send(tc.object); err != nil {
					t.Fatal(err)
				}
				got := k.newRun()
				if err := c.Get(t.Context(), client.ObjectKeyFromObject(tc.object), got); err != nil {
					t.Fatal(err)
				}
				_, status := got.RunObject()
				if diff := cmp.Diff(v1alpha1.RunStatus{ObservedGeneration: -1}, *status); diff != "" {
					t.Errorf("status (-want +got):\n%s", diff)
				}
			})
		}
	})
}

// TestTypedObjectSurvives: what the Go types write is what the schema accepts and gives back.
func TestTypedObjectSurvives(t *testing.T) {
	c := newClient(t)
	forKinds(t, func(t *testing.T, k kind) {
		_, b := k.full(t)
		sent, got := typed(t, k, "typed", k.accepted(b)), k.newRun()
		if err := c.Create(t.Context(), sent.DeepCopyObject().(client.Object)); err != nil {
			t.Fatal("create:", err)
		}
		if err := c.Get(t.Context(), client.ObjectKeyFromObject(sent), got); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(specOf(sent), specOf(got)); diff != "" {
			t.Errorf("spec (-sent +stored):\n%s", diff)
		}
		_, status := got.RunObject()
		*status = fullStatus()
		want := status.DeepCopy()
		if err := c.Status().Update(t.Context(), got); err != nil {
			t.Fatal("update status:", err)
		}
		if err := c.Get(t.Context(), client.ObjectKeyFromObject(sent), got); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, status); diff != "" {
			t.Errorf("status (-sent +stored):\n%s", diff)
		}
	})
}

// specOf is a run's spec, of whatever kind.
func specOf(r run) any { return reflect.ValueOf(r).Elem().FieldByName("Spec").Interface() }

func TestDiscovery(t *testing.T) {
	d, err := discovery.NewDiscoveryClientForConfig(serverConfig(t))
	if err != nil {
		t.Fatal(err)
	}
	list, err := d.ServerResourcesForGroupVersion("hadoopbench.dev/v1alpha1")
	if err != nil {
		t.Fatal(err)
	}
	forKinds(t, func(t *testing.T, k kind) {
		i := slices.IndexFunc(list.APIResources, func(r metav1.APIResource) bool { return r.Name == k.plural })
		if i < 0 {
			t.Fatalf("resources = %v, want %s among them", list.APIResources, k.plural)
		}
		r := list.APIResources[i]
		want := metav1.APIResource{
			Name: k.plural, SingularName: k.singular, Namespaced: true, Kind: k.name,
			ShortNames: []string{k.short}, Categories: []string{"hadoopbench"},
		}
		r.Verbs, r.StorageVersionHash = nil, ""
		if diff := cmp.Diff(want, r); diff != "" {
			t.Errorf("resource (-want +got):\n%s", diff)
		}
	})
}
