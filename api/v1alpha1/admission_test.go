package v1alpha1_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
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
// what the schema has, so a new field is covered as soon as specA has it.
func TestEveryBoundIsEnforced(t *testing.T) {
	c := newClient(t)
	schema := loadCRD(t).Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"]
	spec := parse(t, specA)
	checks := 0
	for _, e := range edits(t, schema, "spec", spec, nil) {
		for _, v := range violations(e.schema, e.valid) {
			t.Run(e.where+"/"+v.bound, func(t *testing.T) {
				e.apply(v.value)
				defer e.apply(e.valid)
				err := c.Create(t.Context(), newObject("bounds", spec), client.DryRunAll)
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
	if checks < 80 {
		t.Errorf("%d bounds were tried, want at least 80", checks)
	}
}

func TestRulesAcrossFields(t *testing.T) {
	c := newClient(t)
	const (
		noTarget   = "target says nowhere which cluster to use: set hadoopConfig.configMapRef, fs, or fs.defaultFS in properties"
		tooWide    = "parallelism is more than nrFiles: raise nrFiles or leave parallelism out"
		noBar      = "a threshold without min and max is met by everything: set min, max or both"
		noneToMeet = "successCriteria ThresholdsMet would never be met without thresholds: add thresholds or choose Completed or Valid"
	)
	tests := map[string]struct {
		spec  string
		field string // empty: accepted
		want  string
	}{
		"target empty":                   {`{target: {}, tests: [write]}`, "spec.target", noTarget},
		"target with fs empty":           {`{target: {fs: ""}, tests: [write]}`, "spec.target", noTarget},
		"target with other property":     {`{target: {properties: {a: b}}, tests: [write]}`, "spec.target", noTarget},
		"target with fs":                 {`{target: {fs: "hdfs://n:8020"}, tests: [write]}`, "", ""},
		"target with fs.defaultFS":       {`{target: {properties: {fs.defaultFS: "hdfs://n:8020"}}, tests: [write]}`, "", ""},
		"target with config":             {`{target: {hadoopConfig: {configMapRef: {name: c}}}, tests: [write]}`, "", ""},
		"parallelism over nrFiles":       {`{target: {fs: "hdfs://n"}, tests: [write], nrFiles: 3, parallelism: 4}`, "spec.parallelism", tooWide},
		"parallelism over default":       {`{target: {fs: "hdfs://n"}, tests: [write], parallelism: 2}`, "spec.parallelism", tooWide},
		"parallelism equal to nrFiles":   {`{target: {fs: "hdfs://n"}, tests: [write], nrFiles: 4, parallelism: 4}`, "", ""},
		"parallelism equal to default":   {`{target: {fs: "hdfs://n"}, tests: [write], parallelism: 1}`, "", ""},
		"threshold without bar":          {`{target: {fs: "hdfs://n"}, tests: [write], thresholds: [{step: write, figure: P99}]}`, "spec.thresholds[0]", noBar},
		"threshold with max":             {`{target: {fs: "hdfs://n"}, tests: [write], thresholds: [{step: write, figure: P99, max: "1"}]}`, "", ""},
		"ThresholdsMet, no thresholds":   {`{target: {fs: "hdfs://n"}, tests: [write], successCriteria: ThresholdsMet}`, "spec.successCriteria", noneToMeet},
		"ThresholdsMet, thresholds []":   {`{target: {fs: "hdfs://n"}, tests: [write], successCriteria: ThresholdsMet, thresholds: []}`, "spec.successCriteria", noneToMeet},
		"ThresholdsMet with a threshold": {`{target: {fs: "hdfs://n"}, tests: [write], successCriteria: ThresholdsMet, thresholds: [{step: write, figure: P99, max: "1"}]}`, "", ""},
		"size zero":                      {`{target: {fs: "hdfs://n"}, tests: [write], size: "0"}`, "spec.size", "should match '^0*[1-9]"},
		"baseDir relative":               {`{target: {fs: "hdfs://n"}, tests: [write], baseDir: a}`, "spec.baseDir", "should match '^/"},
		"baseDir root":                   {`{target: {fs: "hdfs://n"}, tests: [write], baseDir: /}`, "spec.baseDir", "should match '^/"},
		"fs of another scheme":           {`{target: {fs: "s3a://bucket"}, tests: [write]}`, "spec.target.fs", "should match '^(hdfs://"},
		"duration without unit":          {`{target: {fs: "hdfs://n"}, tests: [write], minDuration: "5"}`, "spec.minDuration", "should match '^([0-9]"},
		"duration of several units":      {`{target: {fs: "hdfs://n"}, tests: [write], minDuration: 1h30m0s}`, "", ""},
		"test unknown":                   {`{target: {fs: "hdfs://n"}, tests: [write, erase]}`, "spec.tests[1]", `Unsupported value: "erase"`},
		"tests missing":                  {`{target: {fs: "hdfs://n"}}`, "spec.tests", "Required value"},
		"target missing":                 {`{tests: [write]}`, "spec.target", "Required value"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			err := c.Create(t.Context(), newObject("rules", parse(t, tc.spec)), client.DryRunAll)
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

func TestUnknownFieldsAreRefused(t *testing.T) {
	c := newClient(t)
	tests := map[string][]string{
		"spec.nrFile":                             {"nrFile"},
		"spec.target.filesystem":                  {"target", "filesystem"},
		"spec.podTemplate.ressources":             {"podTemplate", "ressources"},
		"spec.podTemplate.resources.limit":        {"podTemplate", "resources", "limit"},
		"spec.podTemplate.securityContext.runsAs": {"podTemplate", "securityContext", "runsAs"},
	}
	for want, path := range tests {
		t.Run(want, func(t *testing.T) {
			object := newObject("unknown", with(t, parse(t, specA), "x", path...))
			err := c.Create(t.Context(), object, client.DryRunAll)
			if message := fmt.Sprintf("unknown field %q", want); !apierrors.IsBadRequest(err) || !strings.Contains(err.Error(), message) {
				t.Errorf("error = %v, want a bad request with %s", err, message)
			}
		})
	}
}

// TestNothingIsPersistedIntoTheSpec would find a default, which a GitOps tool reports as drift for ever.
func TestNothingIsPersistedIntoTheSpec(t *testing.T) {
	c := newClient(t)
	sample, err := os.ReadFile("../../config/samples/dfsiorun.yaml")
	if err != nil {
		t.Fatal(err)
	}
	specs := map[string]map[string]any{
		"minimal": parse(t, minimal),
		"all":     parse(t, specA),
		"sample":  parse(t, string(sample))["spec"].(map[string]any),
	}
	for name, spec := range specs {
		t.Run(name, func(t *testing.T) {
			want := newObject(objectName("persisted", name), spec)
			if err := apply(t, c, want); err != nil {
				t.Fatal(err)
			}
			if err := apply(t, c, want); err != nil {
				t.Fatal("apply again:", err)
			}
			got := newObject(want.GetName(), nil)
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
}

// apply is server-side apply of a copy of the object.
func apply(t *testing.T, c client.Client, u *unstructured.Unstructured) error {
	t.Helper()
	return c.Apply(t.Context(), client.ApplyConfigurationFromUnstructured(u.DeepCopy()), client.FieldOwner("test"))
}

// TestNewRunIsUnfinished: without the default kstatus would take a run for done before the operator has seen it.
func TestNewRunIsUnfinished(t *testing.T) {
	c := newClient(t)
	withStatus := newObject("status-empty", parse(t, minimal))
	withStatus.Object["status"] = map[string]any{}
	create := func(u *unstructured.Unstructured) error { return c.Create(t.Context(), u) }
	tests := map[string]struct {
		object *unstructured.Unstructured
		send   func(*unstructured.Unstructured) error
	}{
		"created":                   {newObject("status-created", parse(t, minimal)), create},
		"created with empty status": {withStatus, create},
		"applied": {
			newObject("status-applied", parse(t, minimal)),
			func(u *unstructured.Unstructured) error { return apply(t, c, u) },
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if err := tc.send(tc.object); err != nil {
				t.Fatal(err)
			}
			var got v1alpha1.DFSIORun
			if err := c.Get(t.Context(), client.ObjectKeyFromObject(tc.object), &got); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(v1alpha1.RunStatus{ObservedGeneration: -1}, got.Status); diff != "" {
				t.Errorf("status (-want +got):\n%s", diff)
			}
		})
	}
}

// TestTypedObjectSurvives: what the Go types write is what the schema accepts and gives back.
func TestTypedObjectSurvives(t *testing.T) {
	c := newClient(t)
	raw, err := json.Marshal(newObject("typed", parse(t, specB)))
	if err != nil {
		t.Fatal(err)
	}
	var sent v1alpha1.DFSIORun
	if err := json.Unmarshal(raw, &sent); err != nil {
		t.Fatal(err)
	}
	if err := c.Create(t.Context(), sent.DeepCopy()); err != nil {
		t.Fatal("create:", err)
	}
	var got v1alpha1.DFSIORun
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(&sent), &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(sent.Spec, got.Spec); diff != "" {
		t.Errorf("spec (-sent +stored):\n%s", diff)
	}
	got.Status = fullStatus()
	want := *got.Status.DeepCopy()
	if err := c.Status().Update(t.Context(), &got); err != nil {
		t.Fatal("update status:", err)
	}
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(&sent), &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got.Status); diff != "" {
		t.Errorf("status (-sent +stored):\n%s", diff)
	}
}

func TestDiscovery(t *testing.T) {
	d, err := discovery.NewDiscoveryClientForConfig(serverConfig(t))
	if err != nil {
		t.Fatal(err)
	}
	list, err := d.ServerResourcesForGroupVersion("hadoopbench.dev/v1alpha1")
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(list.APIResources, func(r metav1.APIResource) bool { return r.Name == "dfsioruns" })
	if i < 0 {
		t.Fatalf("resources = %v, want dfsioruns among them", list.APIResources)
	}
	r := list.APIResources[i]
	want := metav1.APIResource{
		Name: "dfsioruns", SingularName: "dfsiorun", Namespaced: true, Kind: "DFSIORun",
		ShortNames: []string{"dfsio"}, Categories: []string{"hadoopbench"},
	}
	r.Verbs, r.StorageVersionHash = nil, ""
	if diff := cmp.Diff(want, r); diff != "" {
		t.Errorf("resource (-want +got):\n%s", diff)
	}
}

func loadCRD(t *testing.T) apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(crdDir, "hadoopbench.dev_dfsioruns.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	return decodeCRD(t, data)
}
