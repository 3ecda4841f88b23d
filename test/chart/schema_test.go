package chart

import (
	"os"
	"strings"
	"testing"

	"github.com/Masterminds/semver/v3"
	"sigs.k8s.io/yaml"
)

// compatible applies a chart's kubeVersion as Helm does.
func compatible(t *testing.T, constraint, version string) bool {
	t.Helper()
	c, err := semver.NewConstraint(constraint)
	if err != nil {
		t.Fatal(err)
	}
	v, err := semver.NewVersion(version)
	if err != nil {
		t.Fatal(err)
	}
	return c.Check(v)
}

func TestSchemaRefusesByName(t *testing.T) {
	tests := map[string]struct{ values, want string }{
		"misspelt name":           {"replica: 2", "replica"},
		"misspelt nested name":    {"image: {manager: {tags: v1}}", "tags"},
		"text for a number":       {"replicas: two", "replicas"},
		"text for a switch":       {"crds: {enabled: 'yes'}", "crds/enabled"},
		"number for a text":       {"image: {runner: {tag: 1.10}}", "image/runner/tag"},
		"image in one text":       {"image: hadoop-bench/operator:v1", "image"},
		"digest without sha256":   {"image: {manager: {digest: abc}}", "image/manager/digest"},
		"tag in the repository":   {"image: {manager: {repository: 'a/b:v1'}}", "image/manager/repository"},
		"pull secret as a text":   {"imagePullSecrets: [mine]", "imagePullSecrets/0"},
		"pull policy":             {"image: {manager: {pullPolicy: Sometimes}}", "image/manager/pullPolicy"},
		"namespace in upper case": {"watchNamespace: Bench", "watchNamespace"},
		"list of namespaces":      {"watchNamespace: [a, b]", "watchNamespace"},
		"privileged port":         {"metrics: {port: 80}", "metrics/port"},
		"port of the probes":      {"metrics: {port: 8081}", "metrics/port"},
		"label that is a number":  {"podLabels: {a: 1}", "podLabels/a"},
		"monitor without metrics": {"metrics: {serviceMonitor: {enabled: true}}", "metrics.serviceMonitor.enabled needs metrics.enabled"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			_, _, err := release{"a", "b", tc.values}.render()
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error = %v, want one that names %s", err, tc.want)
			}
		})
	}
}

// TestSchemaKnowsEveryValue: a value without an entry in the schema could not be set at all, and an entry without a
// value would be undocumented.
func TestSchemaKnowsEveryValue(t *testing.T) {
	values, schema := readMap(t, chartDir+"/values.yaml"), readMap(t, chartDir+"/values.schema.json")
	compareKeys(t, "", values, schema)
}

func compareKeys(t *testing.T, where string, values, schema map[string]any) {
	t.Helper()
	properties, ok := schema["properties"].(map[string]any)
	if !ok {
		return // an open map, or a core type
	}
	if schema["additionalProperties"] != false && where != "global." {
		t.Errorf("the schema accepts unknown names in %q", where)
	}
	for name, property := range properties {
		value, ok := values[name]
		if !ok {
			if where != "resources." {
				t.Errorf("the schema has %s%s, which values.yaml does not show", where, name)
			}
			continue
		}
		if nested, ok := value.(map[string]any); ok {
			compareKeys(t, where+name+".", nested, property.(map[string]any))
		}
	}
	for name := range values {
		if _, ok := properties[name]; !ok {
			t.Errorf("values.yaml has %s%s, which the schema does not", where, name)
		}
	}
}

func readMap(t *testing.T, path string) map[string]any {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var object map[string]any
	if err := yaml.Unmarshal(data, &object); err != nil {
		t.Fatal(err)
	}
	return object
}
