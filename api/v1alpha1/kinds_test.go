package v1alpha1_test

import (
	"os"
	"path/filepath"
	"reflect"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/hadoop-bench/operator/api/v1alpha1"
)

// run is an object of any kind.
type run interface {
	client.Object
	RunObject() (*v1alpha1.RunSpec, *v1alpha1.RunStatus)
}

// kind is what the tests, which are the same for all kinds, have to know about one.
type kind struct {
	name, plural, singular, short string

	spec    reflect.Type
	newRun  func() run
	newList func() client.ObjectList

	// own is the shortest part of a spec, beside the target, that is accepted.
	own string
	// specA and specB set every field of the kind's own, each to another value; sharedA and sharedB do the rest.
	specA, specB string
	// dependants are the fields that cannot stand without another one, or beside another value of it, by that one.
	dependants map[string]string
	// apart are the fields of specA and specB that exclude others which are there, too.
	apart []string
	// misspelt is nearly a field.
	misspelt string
	// bounds is how many bounds the schema has at least.
	bounds int
}

var kinds = []kind{
	{
		name: "DFSIORun", plural: "dfsioruns", singular: "dfsiorun", short: "dfsio",
		spec:       reflect.TypeFor[v1alpha1.DFSIORunSpec](),
		newRun:     func() run { return &v1alpha1.DFSIORun{} },
		newList:    func() client.ObjectList { return &v1alpha1.DFSIORunList{} },
		own:        "tests: [write]",
		specA:      dfsioA,
		specB:      dfsioB,
		dependants: map[string]string{"nrFiles": "parallelism"},
		misspelt:   "nrFile",
		bounds:     80,
	},
	{
		name: "NNThroughputRun", plural: "nnthroughputruns", singular: "nnthroughputrun", short: "nnt",
		spec:       reflect.TypeFor[v1alpha1.NNThroughputRunSpec](),
		newRun:     func() run { return &v1alpha1.NNThroughputRun{} },
		newList:    func() client.ObjectList { return &v1alpha1.NNThroughputRunList{} },
		own:        "operations: [create]",
		specA:      nnThroughputA,
		specB:      nnThroughputB,
		dependants: map[string]string{"baseDirNames": "baseDirName", "manageSafeMode": "nonSuperUser"},
		apart:      []string{"baseDirNames"},
		misspelt:   "thread",
		bounds:     100,
	},
	{
		name: "YCSBRun", plural: "ycsbruns", singular: "ycsbrun", short: "ycsb",
		spec:       reflect.TypeFor[v1alpha1.YCSBRunSpec](),
		newRun:     func() run { return &v1alpha1.YCSBRun{} },
		newList:    func() client.ObjectList { return &v1alpha1.YCSBRunList{} },
		own:        "table: {}, recordCount: 1000",
		specA:      ycsbA,
		specB:      ycsbB,
		dependants: map[string]string{"useExisting": "load", "threads": "shards"},
		apart:      []string{"useExisting"},
		misspelt:   "recordcount",
		bounds:     150,
	},
}

// forKinds runs a test for each kind.
func forKinds(t *testing.T, test func(t *testing.T, k kind)) {
	t.Helper()
	for _, k := range kinds {
		t.Run(k.name, func(t *testing.T) { test(t, k) })
	}
}

// minimal is the shortest spec that is accepted.
func (k kind) minimal(t *testing.T) map[string]any {
	t.Helper()
	return parse(t, "{target: {fs: \"hdfs://namenode:8020\"}, "+k.own+"}")
}

// full returns two specs with every field that is a type of ours, each of another value.
func (k kind) full(t *testing.T) (a, b map[string]any) {
	t.Helper()
	return parse(t, sharedA+k.specA), parse(t, sharedB+k.specB)
}

// accepted takes from a full spec what cannot stand beside the rest.
func (k kind) accepted(spec map[string]any) map[string]any {
	for _, name := range k.apart {
		spec = without(spec, name)
	}
	return spec
}

// object makes an object of a spec, which it copies.
func (k kind) object(name string, spec map[string]any) *unstructured.Unstructured {
	u := &unstructured.Unstructured{Object: map[string]any{"spec": runtime.DeepCopyJSON(spec)}}
	u.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind(k.name))
	u.SetNamespace("default")
	u.SetName(name)
	return u
}

func (k kind) crdFile() string { return filepath.Join(crdDir, "hadoopbench.dev_"+k.plural+".yaml") }

func (k kind) crd(t *testing.T) apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	data, err := os.ReadFile(k.crdFile())
	if err != nil {
		t.Fatal(err)
	}
	return decodeCRD(t, data)
}

func (k kind) specSchema(t *testing.T) apiextensionsv1.JSONSchemaProps {
	t.Helper()
	return k.crd(t).Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"]
}

// samples are the objects of this kind in config/samples, by file.
func (k kind) samples(t *testing.T) map[string]map[string]any {
	t.Helper()
	paths, err := filepath.Glob("../../config/samples/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]map[string]any{}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if object := parse(t, string(text)); object["kind"] == k.name {
			found[filepath.Base(path)] = object
		}
	}
	if len(found) == 0 {
		t.Fatalf("no sample in %v is a %s", paths, k.name)
	}
	return found
}
