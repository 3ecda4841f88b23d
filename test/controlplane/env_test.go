// Package controlplane tests the manager against a real API server, etcd, controller manager and scheduler. Pods are
// moved by KWOK; what runs inside them is played by the harness, which answers with reports as the runner would. No
// status of a Job is ever written by hand. Each test has a namespace and managers of its own.
package controlplane

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/yaml"

	"github.com/hadoop-bench/operator/api/v1alpha1"
	"github.com/hadoop-bench/operator/controllers/manager"
)

const (
	root = "../.." // of the repository
	// systemNamespace and managerUser are whom config/rbac binds its roles to. The managers under test are nobody else.
	systemNamespace = "system"
	managerUser     = "system:serviceaccount:system:manager"
	nodes           = 2
	parallel        = 8 // tests at once, unless -parallel says otherwise
)

// environment is the cluster that all tests share.
type environment struct {
	dir        string // logs and kubeconfigs
	env        envtest.Environment
	processes  processes
	admin      *rest.Config // may do everything
	manager    *rest.Config // may do what config/rbac allows
	kubeconfig string       // of admin
	client     client.WithWatch
	kube       kubernetes.Interface
	cache      cache.Cache // of admin: runs, Jobs, pods
	history    *history
	player     *player
	cancel     context.CancelFunc
}

var shared struct {
	once sync.Once
	env  *environment
	err  error
}

func TestMain(m *testing.M) {
	ctrl.SetLogger(logr.Discard())
	flag.Parse()
	if f := flag.Lookup("test.parallel"); f.Value.String() == strconv.Itoa(runtime.GOMAXPROCS(0)) {
		_ = f.Value.Set(strconv.Itoa(parallel)) // the tests wait more than they compute
	}
	code := m.Run()
	if shared.env != nil {
		if err := shared.env.stop(code != 0 || shared.err != nil); err != nil {
			fmt.Fprintln(os.Stderr, "stop the control plane:", err)
			code = 1
		}
	}
	os.Exit(code)
}

// cluster returns the shared cluster and starts it when the first test needs it.
func cluster(t *testing.T) *environment {
	t.Helper()
	bin := os.Getenv("HADOOPBENCH_BIN")
	if bin == "" {
		t.Skip("HADOOPBENCH_BIN is not set; `make test` and `make test-controlplane` build the binaries and set it")
	}
	shared.once.Do(func() {
		begin := time.Now()
		shared.env = &environment{}
		shared.err = shared.env.start(bin)
		fmt.Printf("control plane started in %.1f s\n", time.Since(begin).Seconds())
	})
	if shared.err != nil {
		t.Fatal("start the control plane:", shared.err)
	}
	return shared.env
}

func (e *environment) start(bin string) (err error) {
	if e.dir, err = os.MkdirTemp("", "hadoopbench-controlplane-"); err != nil {
		return err
	}
	if err = e.processes.guard(); err != nil {
		return err
	}
	if err = e.startAPIServer(bin); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	e.cancel = cancel
	if err = e.startControllers(ctx, bin); err != nil {
		return err
	}
	return e.observe(ctx)
}

func (e *environment) startAPIServer(bin string) error {
	e.env = envtest.Environment{
		BinaryAssetsDirectory: bin,
		CRDDirectoryPaths: []string{
			filepath.Join(root, "config/crd/hadoopbench.dev_dfsioruns.yaml"), filepath.Join(root, "config/crd/hadoopbench.dev_nnthroughputruns.yaml"),
			filepath.Join(root, "config/crd/hadoopbench.dev_ycsbruns.yaml"),
		},
		ErrorIfCRDPathMissing:    true,
		ControlPlaneStartTimeout: time.Minute,
	}
	// As on OpenShift: whoever sets an ownerReference that blocks deletion must have the right to do so.
	e.env.ControlPlane.GetAPIServer().Configure().Append("enable-admission-plugins", "OwnerReferencesPermissionEnforcement")
	var err error
	if e.admin, err = e.env.Start(); err != nil {
		return err
	}
	if err := e.processes.guardChildren(); err != nil {
		return err
	}
	e.admin.QPS = -1
	if e.kubeconfig, _, err = e.user("admin", "system:masters"); err != nil {
		return err
	}
	if _, e.manager, err = e.user(managerUser); err != nil {
		return err
	}
	scheme, err := manager.Scheme()
	if err != nil {
		return err
	}
	if e.client, err = client.NewWithWatch(e.admin, client.Options{Scheme: scheme}); err != nil {
		return err
	}
	e.kube, err = kubernetes.NewForConfig(e.admin)
	return err
}

// user makes a user and a kubeconfig for it.
func (e *environment) user(name string, groups ...string) (string, *rest.Config, error) {
	u, err := e.env.AddUser(envtest.User{Name: name, Groups: groups}, nil)
	if err != nil {
		return "", nil, err
	}
	doc, err := u.KubeConfig()
	if err != nil {
		return "", nil, err
	}
	file := filepath.Join(e.dir, strings.ReplaceAll(name, ":", "-")+".kubeconfig")
	return file, u.Config(), os.WriteFile(file, doc, 0o600)
}

func (e *environment) startControllers(ctx context.Context, bin string) error {
	if err := e.applyRBAC(ctx); err != nil {
		return err
	}
	common := []string{"--kubeconfig=" + e.kubeconfig, "--leader-elect=false", "--secure-port=0", "--kube-api-qps=1000", "--kube-api-burst=2000"}
	// All that has to do with Jobs, pods and deletion; the rest would only take CPU from the tests.
	controllers := []string{
		"job-controller", "garbage-collector-controller", "namespace-controller", "resourcequota-controller", "disruption-controller",
		"node-lifecycle-controller", "taint-eviction-controller", "pod-garbage-collector-controller", "serviceaccount-controller",
	}
	err := e.processes.start(filepath.Join(e.dir, "kube-controller-manager.log"), filepath.Join(bin, "kube-controller-manager"),
		append(common, "--controllers="+strings.Join(controllers, ","), "--concurrent-gc-syncs=20", "--concurrent-namespace-syncs=10")...)
	if err != nil {
		return err
	}
	if err := e.processes.start(filepath.Join(e.dir, "kube-scheduler.log"), filepath.Join(bin, "kube-scheduler"), common...); err != nil {
		return err
	}
	if err := e.startKWOK(ctx, bin); err != nil {
		return err
	}
	return e.addNodes(ctx)
}

// applyRBAC applies config/rbac as it is.
func (e *environment) applyRBAC(ctx context.Context) error {
	if err := e.client.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: systemNamespace}}); err != nil {
		return err
	}
	var k struct{ Resources []string }
	dir := filepath.Join(root, "config/rbac")
	if err := readYAML(filepath.Join(dir, "kustomization.yaml"), &k); err != nil {
		return err
	}
	for _, file := range k.Resources {
		var u unstructured.Unstructured
		if err := readYAML(filepath.Join(dir, file), &u.Object); err != nil {
			return err
		}
		if !strings.HasPrefix(u.GetKind(), "Cluster") {
			u.SetNamespace(systemNamespace)
		}
		if err := e.client.Create(ctx, &u); err != nil {
			return fmt.Errorf("apply %s: %w", file, err)
		}
	}
	return nil
}

func readYAML(file string, into any) error {
	doc, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	return yaml.Unmarshal(doc, into)
}

// observe starts what watches the cluster for the tests.
func (e *environment) observe(ctx context.Context) error {
	var err error
	if e.cache, err = cache.New(e.admin, cache.Options{Scheme: e.client.Scheme()}); err != nil {
		return err
	}
	e.history = newHistory()
	e.player = newPlayer(e.client, e.cache)
	for _, obj := range []client.Object{&v1alpha1.DFSIORun{}, &batchv1.Job{}, &corev1.Pod{}} {
		informer, err := e.cache.GetInformer(ctx, obj, cache.BlockUntilSynced(false))
		if err != nil {
			return err
		}
		if _, err := informer.AddEventHandler(e.history); err != nil {
			return err
		}
		if _, ok := obj.(*corev1.Pod); !ok {
			continue
		}
		if _, err := informer.AddEventHandler(e.player); err != nil {
			return err
		}
	}
	go func() { _ = e.cache.Start(ctx) }()
	if !e.cache.WaitForCacheSync(ctx) {
		return fmt.Errorf("the tests' cache did not fill")
	}
	return nil
}

// stop ends everything that was started; the logs are kept if something failed.
func (e *environment) stop(failed bool) error {
	if e.cancel != nil {
		e.cancel()
	}
	e.processes.stop()
	err := e.env.Stop()
	e.processes.unguard()
	if failed {
		fmt.Fprintln(os.Stderr, "logs of the control plane are kept in", e.dir)
		return err
	}
	if removeErr := os.RemoveAll(e.dir); err == nil {
		err = removeErr
	}
	return err
}

// namespace makes a namespace in which only pods that fit the restricted Pod Security Standard may run.
func (e *environment) namespace(ctx context.Context, prefix string) (string, error) {
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
		GenerateName: prefix + "-", Labels: map[string]string{"pod-security.kubernetes.io/enforce": "restricted"},
	}}
	err := e.client.Create(ctx, ns)
	return ns.Name, err
}

func ignoreGone(err error) error {
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}
