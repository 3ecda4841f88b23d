package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"
)

// generated is a CRD as controller-gen writes it, with one field of each sort.
const generated = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: things.example.com
  annotations: {controller-gen.kubebuilder.io/version: v1}
spec:
  group: example.com
  names: {kind: Thing, plural: things}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            description: what to do
            required: [target]
            properties:
              target: {type: object, description: whom, properties: {fs: {type: string, description: where, default: here}}}
              size: {type: string, description: how much}
              in: {type: string}
              suspend: {type: boolean}
              ttlAfterFinished: {type: string}
              rerun: {type: string}
              podTemplate:
                type: object
                description: pods
                properties:
                  image: {type: string, description: image}
                  imagePullSecrets:
                    type: array
                    description: secrets
                    items: {type: object, description: secret, properties: {name: {type: string, description: name}}}
                  env:
                    type: array
                    description: variables
                    x-kubernetes-list-type: atomic
                    items:
                      type: object
                      description: variable
                      properties:
                        args: {type: array, x-kubernetes-list-type: atomic, items: {type: string}}
                        keyed: {type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [name], items: {type: object}}
                        ref: {type: object, description: reference, properties: {name: {type: string, description: name, default: ""}}}
                  resources:
                    type: object
                    description: resources
                    properties:
                      limits: {type: object, description: limits, additionalProperties: {type: string, description: quantity, default: "1"}}
            x-kubernetes-validations:
            - {rule: "true", message: ours}
          status: {type: object, description: how far, default: {observedGeneration: -1}}
`

func finishSpec(t *testing.T, in string) apiextensionsv1.JSONSchemaProps {
	t.Helper()
	out, err := finish([]byte(in))
	if err != nil {
		t.Fatal(err)
	}
	var crd apiextensionsv1.CustomResourceDefinition
	if err := yaml.UnmarshalStrict(out, &crd); err != nil {
		t.Fatal(err)
	}
	return crd.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"]
}

// notes lists descriptions, and defaults after an equals sign, by place.
func notes(s apiextensionsv1.JSONSchemaProps, where string, found map[string]string) map[string]string {
	if s.Default != nil {
		found[where] = s.Description + "=" + string(s.Default.Raw)
	} else if s.Description != "" {
		found[where] = s.Description
	}
	for name, property := range s.Properties {
		notes(property, where+"."+name, found)
	}
	if s.Items != nil {
		notes(*s.Items.Schema, where+"[]", found)
	}
	if s.AdditionalProperties != nil {
		notes(*s.AdditionalProperties.Schema, where+"{}", found)
	}
	return found
}

func TestFinishStripsBelowCoreTypesOnly(t *testing.T) {
	want := map[string]string{
		"spec":                                     "what to do",
		"spec.target":                              "whom",
		"spec.target.fs":                           `where="here"`,
		"spec.size":                                "how much",
		"spec.podTemplate":                         "pods",
		"spec.podTemplate.image":                   "image",
		"spec.podTemplate.imagePullSecrets":        "secrets",
		"spec.podTemplate.imagePullSecrets[]":      "secret",
		"spec.podTemplate.imagePullSecrets[].name": "name",
		"spec.podTemplate.env":                     "variables",
		"spec.podTemplate.resources":               "resources",
	}
	if diff := cmp.Diff(want, notes(finishSpec(t, generated), "spec", map[string]string{})); diff != "" {
		t.Errorf("descriptions and defaults (-want +got):\n%s", diff)
	}
}

// TestFinishStripsTheDefaultListType: a list without a type is atomic, so below the core types the word says nothing.
func TestFinishStripsTheDefaultListType(t *testing.T) {
	env := finishSpec(t, generated).Properties["podTemplate"].Properties["env"]
	got := map[string]string{"env": listType(env)}
	for _, name := range []string{"args", "keyed"} {
		got["env[]."+name] = listType(env.Items.Schema.Properties[name])
	}
	want := map[string]string{"env": "atomic", "env[].args": "", "env[].keyed": "map"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("list types (-want +got):\n%s", diff)
	}
}

func listType(s apiextensionsv1.JSONSchemaProps) string {
	if s.XListType == nil {
		return ""
	}
	return *s.XListType
}

func TestFinishAddsRules(t *testing.T) {
	const rerun = "has(self.rerun) && (!has(oldSelf.rerun) || self.rerun != oldSelf.rerun)"
	forbidden := apiextensionsv1.FieldValueForbidden
	rule := func(field, text string) apiextensionsv1.ValidationRule {
		return apiextensionsv1.ValidationRule{
			Rule: rerun + " || " + text, FieldPath: field, Message: "changes only together with spec.rerun", Reason: &forbidden,
		}
	}
	want := apiextensionsv1.ValidationRules{
		{Rule: "true", Message: "ours"},
		rule(".in", "has(self.__in__) == has(oldSelf.__in__) && (!has(self.__in__) || self.__in__ == oldSelf.__in__)"),
		rule(".podTemplate", "has(self.podTemplate) == has(oldSelf.podTemplate) && (!has(self.podTemplate) || self.podTemplate == oldSelf.podTemplate)"),
		rule(".size", "has(self.size) == has(oldSelf.size) && (!has(self.size) || self.size == oldSelf.size)"),
		rule(".target", "self.target == oldSelf.target"),
	}
	if diff := cmp.Diff(want, finishSpec(t, generated).XValidations); diff != "" {
		t.Errorf("rules (-want +got):\n%s", diff)
	}
}

func TestFinishWritesAnInstallableObject(t *testing.T) {
	out, err := finish([]byte(generated))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(string(out), generatedHeader) {
		t.Errorf("the CRD begins with %.80q, want %q", out, generatedHeader)
	}
	var object map[string]any
	if err := yaml.Unmarshal(out, &object); err != nil {
		t.Fatal(err)
	}
	if _, ok := object["status"]; ok {
		t.Error("the CRD has a status, which kubectl apply would send")
	}
	again, err := finish([]byte(generated))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(out), string(again)); diff != "" {
		t.Errorf("a second run differs (-first +second):\n%s", diff)
	}
}

func TestFinishRefuses(t *testing.T) {
	tests := map[string]struct{ in, want string }{
		"what is no YAML":  {"\t", "read the CRD"},
		"an unknown field": {strings.Replace(generated, "scope:", "scoop:", 1), `unknown field "scoop"`},
		"no schema": {
			generated[:strings.Index(generated, "    schema:")], "version v1 has no schema",
		},
		"no spec":  {strings.Replace(generated, "          spec:", "          spek:", 1), "version v1: the schema has no spec"},
		"no rerun": {strings.Replace(generated, "rerun: {", "again: {", 1), "spec has no field rerun, which the immutability rules rest on"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := finish([]byte(tc.in))
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error = %v, want %q", err, tc.want)
			}
		})
	}
}

func TestWriteCRDsRefusesALargeOne(t *testing.T) {
	raw, out := t.TempDir(), t.TempDir()
	large := strings.Replace(generated, "what to do", strings.Repeat("x", maxCRDBytes), 1)
	if err := os.WriteFile(filepath.Join(raw, "large.yaml"), []byte(large), 0o644); err != nil {
		t.Fatal(err)
	}
	err := writeCRDs(raw, out)
	if err == nil || !strings.Contains(err.Error(), "large.yaml has 15") || !strings.Contains(err.Error(), "not less than 150000") {
		t.Errorf("error = %v, want one with file, size and limit", err)
	}
	if paths, err := filepath.Glob(filepath.Join(out, "*")); err != nil || len(paths) != 0 {
		t.Errorf("it wrote %v, %v; want nothing", paths, err)
	}
}

func TestWriteCRDsWritesBothCopies(t *testing.T) {
	raw, out := t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(raw, "thing.yaml"), []byte(generated), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := writeCRDs(raw, out); err != nil {
		t.Fatal(err)
	}
	want, err := finish([]byte(generated))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"config/crd/thing.yaml", "charts/hadoop-bench-operator/files/crds/thing.yaml"} {
		got, err := os.ReadFile(filepath.Join(out, path))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), string(got)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", path, diff)
		}
	}
}

func TestWriteCRDsRefusesNothing(t *testing.T) {
	if err := writeCRDs(t.TempDir(), t.TempDir()); err == nil || err.Error() != "controller-gen made no CRD" {
		t.Errorf("error = %v, want controller-gen made no CRD", err)
	}
}

func TestWriteKeepsAnUnchangedFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sub", "file")
	if err := write([]byte("one"), path); err != nil {
		t.Fatal(err)
	}
	before, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	// A file that is not written to again may be unwritable.
	if err := os.Chmod(path, 0o444); err != nil {
		t.Fatal(err)
	}
	if err := write([]byte("one"), path); err != nil {
		t.Fatal(err)
	}
	after, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if !after.ModTime().Equal(before.ModTime()) {
		t.Errorf("time of the file = %v, want %v as before", after.ModTime(), before.ModTime())
	}
}
