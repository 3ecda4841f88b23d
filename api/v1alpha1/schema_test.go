package v1alpha1_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	"github.com/hadoop-bench/operator/api/v1alpha1"
)

func decodeCRD(t *testing.T, data []byte) apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	var crd apiextensionsv1.CustomResourceDefinition
	if err := yaml.UnmarshalStrict(data, &crd); err != nil {
		t.Fatal(err)
	}
	return crd
}

// coreFields are the fields of podTemplate whose types are, or hold, types of Kubernetes.
func coreFields() []string {
	core := reflect.TypeFor[corev1.Pod]().PkgPath()
	var names []string
	for sf := range reflect.TypeFor[v1alpha1.PodTemplate]().Fields() {
		t := sf.Type
		for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
			t = t.Elem()
		}
		if t.Kind() == reflect.Struct && t.PkgPath() == core {
			name, _, _ := strings.Cut(sf.Tag.Get("json"), ",")
			names = append(names, name)
		}
	}
	return names
}

func isCoreField(parent, name string) bool {
	return parent == "spec.podTemplate" && slices.Contains(coreFields(), name)
}

func TestCoreFields(t *testing.T) {
	want := []string{
		"resources", "tolerations", "affinity", "topologySpreadConstraints", "volumes", "volumeMounts", "env", "securityContext",
	}
	if diff := cmp.Diff(want, coreFields()); diff != "" {
		t.Errorf("fields of podTemplate of core types (-want +got):\n%s", diff)
	}
}

// visit calls f for a schema and for all below it.
func visit(s apiextensionsv1.JSONSchemaProps, where string, f func(where string, s apiextensionsv1.JSONSchemaProps) bool) {
	if !f(where, s) {
		return
	}
	for name, property := range s.Properties {
		visit(property, where+"."+name, f)
	}
	if s.Items != nil {
		visit(*s.Items.Schema, where+"[]", f)
	}
	if s.AdditionalProperties != nil {
		visit(*s.AdditionalProperties.Schema, where+"{}", f)
	}
}

func belowCore(where string) bool {
	rest, ok := strings.CutPrefix(where, "spec.podTemplate.")
	i := strings.IndexAny(rest, ".[{")
	return ok && i > 0 && slices.Contains(coreFields(), rest[:i])
}

// TestCRDSize: kubectl apply keeps the whole object in an annotation, of which a server takes 256 KiB at most.
func TestCRDSize(t *testing.T) {
	paths, err := filepath.Glob(filepath.Join(crdDir, "hadoopbench.dev_*.yaml"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no CRDs in %s: %v", crdDir, err)
	}
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if info.Size() >= 150_000 {
			t.Errorf("%s has %d bytes, want fewer than 150000", path, info.Size())
		}
	}
}

func TestDescriptions(t *testing.T) {
	forKinds(t, func(t *testing.T, k kind) {
		visit(k.specSchema(t), "spec", func(where string, s apiextensionsv1.JSONSchemaProps) bool {
			switch {
			case belowCore(where):
				if s.Description != "" {
					t.Errorf("%s is below a core type and has a description: it makes the CRD large", where)
				}
			case s.Description == "" && !strings.HasSuffix(where, "]") && !strings.HasSuffix(where, "}"):
				t.Errorf("%s has no description", where)
			}
			return true
		})
	})
}

func TestNoDefaults(t *testing.T) {
	forKinds(t, func(t *testing.T, k kind) {
		visit(k.specSchema(t), "spec", func(where string, s apiextensionsv1.JSONSchemaProps) bool {
			if s.Default != nil {
				t.Errorf("%s has the default %s, which the API server would write into the spec", where, s.Default.Raw)
			}
			if s.XPreserveUnknownFields != nil {
				t.Errorf("%s accepts unknown fields: a misspelt one would be ignored", where)
			}
			return true
		})
	})
}

func TestEverythingHasABound(t *testing.T) {
	forKinds(t, func(t *testing.T, k kind) {
		visit(k.specSchema(t), "spec", func(where string, s apiextensionsv1.JSONSchemaProps) bool {
			switch {
			case belowCore(where):
				return false
			case s.Type == "string" && s.MaxLength == nil && s.Enum == nil:
				t.Errorf("%s is a string without MaxLength or Enum", where)
			case s.Type == "array" && s.MaxItems == nil:
				t.Errorf("%s is a list without MaxItems", where)
			case s.Type == "object" && s.AdditionalProperties != nil && s.MaxProperties == nil:
				t.Errorf("%s is a map without MaxProperties", where)
			case s.Type == "integer" && (s.Minimum == nil || s.Maximum == nil) && !strings.HasSuffix(where, "seed"):
				t.Errorf("%s is a number without Minimum and Maximum", where)
			case s.Type == "number":
				t.Errorf("%s is a float: use an integer with the unit in its name, or a decimal string", where)
			case s.Type == "array" && s.XListType == nil:
				t.Errorf("%s is a list without a listType", where)
			}
			return true
		})
	})
}

// TestImmutabilityRules: the schema has exactly one rule for each field of the Go type, whatever the tool that made it.
func TestImmutabilityRules(t *testing.T) {
	forKinds(t, func(t *testing.T, k kind) {
		var want, got []string
		for _, f := range k.specFields() {
			if len(f.path) == 1 && f.path[0] != "rerun" && !slices.Contains(freeFields, f.path[0]) {
				want = append(want, "."+f.path[0])
			}
		}
		slices.Sort(want)
		for _, rule := range k.specSchema(t).XValidations {
			if strings.Contains(rule.Rule, "oldSelf") {
				got = append(got, rule.FieldPath)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("fields with a rule (-want +got):\n%s", diff)
		}
	})
}

func TestPrinterColumns(t *testing.T) {
	forKinds(t, func(t *testing.T, k kind) {
		want := []string{"Phase", "Succeeded", "Valid", "Summary", "Execution (wide)", "Report (wide)", "Age"}
		var got []string
		for _, column := range k.crd(t).Spec.Versions[0].AdditionalPrinterColumns {
			name := column.Name
			if column.Priority > 0 {
				name += " (wide)"
			}
			got = append(got, name)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("columns (-want +got):\n%s", diff)
		}
	})
}

// TestDocComments: kubectl explain shows the comments of the Go fields; types and constants are for readers of code.
func TestDocComments(t *testing.T) {
	paths, err := filepath.Glob("*_types.go")
	if err != nil || len(paths) < 4 {
		t.Fatalf("type files = %v, %v; want at least 4", paths, err)
	}
	files := token.NewFileSet()
	for _, path := range paths {
		file, err := parser.ParseFile(files, path, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if f, ok := n.(*ast.Field); ok && f.Tag != nil && !strings.Contains(f.Tag.Value, "inline") && !hasComment(f.Doc) &&
				!strings.Contains(f.Tag.Value, `"metadata,`) && !strings.Contains(f.Tag.Value, `"items"`) {
				t.Errorf("%s: field %s has no comment", files.Position(f.Pos()), f.Names[0].Name)
			}
			return true
		})
	}
}

// hasComment tells text from markers.
func hasComment(group *ast.CommentGroup) bool {
	return group != nil && slices.ContainsFunc(group.List, func(c *ast.Comment) bool {
		return !strings.HasPrefix(strings.TrimSpace(strings.TrimPrefix(c.Text, "//")), "+")
	})
}
