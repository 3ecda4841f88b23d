package v1alpha1_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/go-logr/logr"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/yaml"

	"github.com/hadoop-bench/operator/api/v1alpha1"
)

const crdDir = "../../config/crd"

// server is the API server that the tests of this package share. It starts when the first test needs it.
var server struct {
	once   sync.Once
	env    envtest.Environment
	config *rest.Config
	err    error
}

func TestMain(m *testing.M) {
	ctrllog.SetLogger(logr.Discard())
	code := m.Run()
	if server.config != nil {
		if err := server.env.Stop(); err != nil {
			fmt.Fprintln(os.Stderr, "stop the API server:", err)
			code = 1
		}
	}
	os.Exit(code)
}

// serverConfig returns how to reach a real API server with the CRDs installed. That it starts at all shows that it
// accepts them, the cost of their CEL rules included.
func serverConfig(t *testing.T) *rest.Config {
	t.Helper()
	bin := os.Getenv("HADOOPBENCH_BIN")
	if bin == "" {
		t.Skip("HADOOPBENCH_BIN is not set: it is the directory of kube-apiserver, etcd and kubectl")
	}
	server.once.Do(func() {
		var crds []string
		for _, k := range kinds {
			crds = append(crds, k.crdFile())
		}
		server.env = envtest.Environment{
			BinaryAssetsDirectory: bin,
			CRDDirectoryPaths:     crds,
			ErrorIfCRDPathMissing: true,
		}
		server.config, server.err = server.env.Start()
		if server.config != nil {
			server.config.QPS = -1
		}
	})
	if server.err != nil {
		t.Fatal("start the API server:", server.err)
	}
	return server.config
}

// newClient returns a client that has unknown fields refused, as kubectl does.
func newClient(t *testing.T) client.Client {
	t.Helper()
	config := serverConfig(t)
	scheme := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	c, err := client.New(config, client.Options{Scheme: scheme})
	if err != nil {
		t.Fatal(err)
	}
	return client.WithFieldValidation(c, metav1.FieldValidationStrict)
}

// objectName makes a valid name of a test's name.
func objectName(parts ...string) string {
	name := strings.ToLower(strings.Join(parts, "-"))
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}, name)
}

func parse(t *testing.T, text string) map[string]any {
	t.Helper()
	var object map[string]any
	if err := yaml.UnmarshalStrict([]byte(text), &object); err != nil {
		t.Fatal(err)
	}
	// The API machinery's JSON has int64 where YAML gave float64.
	return jsonNumbers(object).(map[string]any)
}

func jsonNumbers(value any) any {
	switch v := value.(type) {
	case map[string]any:
		for key := range v {
			v[key] = jsonNumbers(v[key])
		}
	case []any:
		for i := range v {
			v[i] = jsonNumbers(v[i])
		}
	case float64:
		return int64(v)
	}
	return value
}

// cause is what the tests compare of a refusal.
type cause struct {
	Type    metav1.CauseType
	Field   string
	Message string
}

// causes returns why the API server refused an object as invalid.
func causes(t *testing.T, err error) []cause {
	t.Helper()
	var status apierrors.APIStatus
	if !errors.As(err, &status) || !apierrors.IsInvalid(err) {
		t.Fatalf("error = %v, want a refusal as invalid", err)
	}
	var list []cause
	for _, c := range status.Status().Details.Causes {
		list = append(list, cause{c.Type, c.Field, c.Message})
	}
	return list
}

// dryUpdate asks the API server whether it would accept a changed spec.
func dryUpdate(ctx context.Context, c client.Client, u *unstructured.Unstructured, spec map[string]any) error {
	changed := u.DeepCopy()
	changed.Object["spec"] = runtime.DeepCopyJSON(spec)
	return c.Update(ctx, changed, client.DryRunAll)
}
