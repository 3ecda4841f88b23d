// Package chart tests the Helm chart and the kustomization through Helm and kustomize as libraries: that they are
// accepted, render what they should, and agree with each other.
package chart

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"

	"helm.sh/helm/v4/pkg/chart/common"
	"helm.sh/helm/v4/pkg/chart/common/util"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	"helm.sh/helm/v4/pkg/engine"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	kyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"
)

const (
	root     = "../.."
	chartDir = root + "/charts/hadoop-bench-operator"

	defaultRelease   = "hadoop-bench-operator"
	defaultNamespace = "hadoop-bench-system"
)

// objects are rendered objects by "Kind name", or "Kind namespace/name".
type objects map[string]*unstructured.Unstructured

// release is one way to install the chart.
type release struct {
	name, namespace string
	values          string
}

// render renders the chart for a release as `helm template` does, and returns the notes apart.
func (r release) render() (objects, string, error) {
	chart, err := loader.Load(chartDir)
	if err != nil {
		return nil, "", err
	}
	values := map[string]any{}
	if err := yaml.Unmarshal([]byte(r.values), &values); err != nil {
		return nil, "", err
	}
	options := common.ReleaseOptions{Name: r.name, Namespace: r.namespace, IsInstall: true, Revision: 1}
	all, err := util.ToRenderValues(chart, values, options, nil)
	if err != nil {
		return nil, "", err
	}
	files, err := engine.Engine{Strict: true}.RenderWithContext(context.Background(), chart, all)
	if err != nil {
		return nil, "", err
	}
	notes := ""
	list := objects{}
	for _, path := range slices.Sorted(maps.Keys(files)) {
		if strings.HasSuffix(path, "NOTES.txt") {
			notes = files[path]
		} else if err := list.add([]byte(files[path])); err != nil {
			return nil, "", fmt.Errorf("%s: %w", path, err)
		}
	}
	return list, notes, nil
}

// mustRender renders a release that has to be accepted. Empty name and namespace are the documented ones.
func mustRender(t *testing.T, r release) objects {
	t.Helper()
	if r.name == "" {
		r.name = defaultRelease
	}
	if r.namespace == "" {
		r.namespace = defaultNamespace
	}
	list, _, err := r.render()
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// add reads the documents of a YAML stream; two of the same name are an error.
func (o objects) add(stream []byte) error {
	decoder := kyaml.NewYAMLOrJSONDecoder(bytes.NewReader(stream), 4096)
	for {
		var object map[string]any
		if err := decoder.Decode(&object); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		if len(object) == 0 {
			continue
		}
		u := &unstructured.Unstructured{Object: object}
		key := u.GetKind() + " " + u.GetName()
		if u.GetNamespace() != "" {
			key = u.GetKind() + " " + u.GetNamespace() + "/" + u.GetName()
		}
		if _, twice := o[key]; twice {
			return fmt.Errorf("%s is there twice", key)
		}
		o[key] = u
	}
}

func (o objects) keys() []string { return slices.Sorted(maps.Keys(o)) }

// only returns the one object of a kind.
func (o objects) only(t *testing.T, kind string) *unstructured.Unstructured {
	t.Helper()
	var found []*unstructured.Unstructured
	for _, u := range o {
		if u.GetKind() == kind {
			found = append(found, u)
		}
	}
	if len(found) != 1 {
		t.Fatalf("%d objects of kind %s among %v, want 1", len(found), kind, o.keys())
	}
	return found[0]
}

// as reads an object into a Go type, and fails on a field that the type does not have.
func as[T any](t *testing.T, u *unstructured.Unstructured) T {
	t.Helper()
	var typed T
	if err := runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(u.Object, &typed, true); err != nil {
		t.Fatalf("%s %s: %v", u.GetKind(), u.GetName(), err)
	}
	return typed
}

// kustomize renders a directory of config, or of a file system made by a test.
func kustomize(t *testing.T, fs filesys.FileSystem, dir string) objects {
	t.Helper()
	result, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(fs, dir)
	if err != nil {
		t.Fatal(err)
	}
	stream, err := result.AsYaml()
	if err != nil {
		t.Fatal(err)
	}
	list := objects{}
	if err := list.add(stream); err != nil {
		t.Fatal(err)
	}
	return list
}

func kustomizeDefault(t *testing.T) objects {
	t.Helper()
	return kustomize(t, filesys.MakeFsOnDisk(), root+"/config/default")
}
