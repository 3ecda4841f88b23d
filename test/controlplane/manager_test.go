package controlplane

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-logr/logr/funcr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/hadoop-bench/operator/api/v1alpha1"
	"github.com/hadoop-bench/operator/controllers"
	"github.com/hadoop-bench/operator/controllers/manager"
)

const runnerImage = "registry.example/hadoop-bench/runner:test"

// running is a manager that runs in this process, set up as the product's own, but for one namespace, with a tap on its
// client and a clock that can be set.
type running struct {
	ctrl.Manager
	tap    *tap
	clock  *clock
	log    *logged
	cancel context.CancelFunc
	done   chan error
}

// startManager starts a manager for a namespace.
func startManager(t *testing.T, e *environment, namespace string, tp *tap, c *clock, adjust func(*ctrl.Options)) *running {
	t.Helper()
	scheme, err := manager.Scheme()
	if err != nil {
		t.Fatal(err)
	}
	cfg := rest.CopyConfig(e.manager)
	cfg.QPS, cfg.Burst = 200, 400
	log := &logged{}
	graceful := 5 * time.Second
	skip := true
	o := ctrl.Options{
		Scheme:                        scheme,
		Cache:                         controllers.CacheOptions(namespace),
		Client:                        client.Options{Cache: &client.CacheOptions{DisableFor: []client.Object{&corev1.ConfigMap{}, &corev1.Event{}}}},
		LeaderElectionReleaseOnCancel: true,
		Metrics:                       metricsserver.Options{BindAddress: "0"},
		HealthProbeBindAddress:        "0",
		GracefulShutdownTimeout:       &graceful,
		Controller:                    config.Controller{SkipNameValidation: &skip},
		Logger:                        funcr.NewJSON(log.write, funcr.Options{LogTimestamp: true}),
	}
	if adjust != nil {
		adjust(&o)
	}
	mgr, err := ctrl.NewManager(cfg, o)
	if err != nil {
		t.Fatal(err)
	}
	if tp == nil {
		tp = &tap{}
	}
	tp.Client, tp.dead, tp.ease = mgr.GetClient(), &atomic.Bool{}, nil
	if tp.easeBy == 0 {
		tp.easeBy = eased
	}
	if c == nil {
		c = &clock{}
		c.set(tp.easeBy)
		tp.ease = c
	}
	var reconcilers []*controllers.Reconciler
	for _, b := range controllers.Benchmarks() {
		reconcilers = append(reconcilers, &controllers.Reconciler{
			Client: tp, Direct: mgr.GetAPIReader(), Benchmark: b, RunnerImage: runnerImage,
			Recorder: mgr.GetEventRecorder("hadoop-bench-operator"), Clock: c,
		})
	}
	ctx, cancel := context.WithCancel(context.Background())
	if err := controllers.SetupWithManager(ctx, mgr, reconcilers...); err != nil {
		t.Fatal(err)
	}
	m := &running{Manager: mgr, tap: tp, clock: c, log: log, cancel: cancel, done: make(chan error, 1)}
	go func() { m.done <- mgr.Start(ctx) }()
	t.Cleanup(func() {
		m.stop(t)
		if t.Failed() {
			t.Log("the manager's log:\n" + m.log.String())
		}
	})
	return m
}

// stop ends the manager as a signal would.
func (m *running) stop(t *testing.T) {
	t.Helper()
	m.cancel()
	select {
	case err := <-m.done:
		m.done <- err
		if err != nil {
			t.Error("the manager failed:", err)
		}
	case <-time.After(20 * time.Second):
		t.Error("the manager does not end")
	}
}

// eased is by how much gates are eased, unless a test says otherwise; see tap.
const eased = 3 * time.Second

// clock is the real one, some time ahead.
type clock struct{ ahead atomic.Int64 }

func (c *clock) Now() time.Time                  { return time.Now().Add(time.Duration(c.ahead.Load())) }
func (c *clock) Since(t time.Time) time.Duration { return c.Now().Sub(t) }
func (c *clock) set(ahead time.Duration)         { c.ahead.Store(int64(ahead)) }

// logged keeps what a manager logs.
type logged struct {
	mu    sync.Mutex
	lines []string
}

func (l *logged) write(line string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = append(l.lines, line)
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Join(l.lines, "\n")
}

// errors are the lines that tell of one.
func (l *logged) errors() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var out []string
	for _, line := range l.lines {
		if strings.Contains(line, `"error":`) {
			out = append(out, line)
		}
	}
	return out
}

// errCut is what a manager gets that was cut off: it stands for a process that is no more.
var errCut = errors.New("the manager was cut off")

// tap is a client through which a test sees what a manager does, and keeps it from doing so.
type tap struct {
	client.Client

	dead *atomic.Bool // nothing is read or written any more
	// ease is a clock that is put ahead while start times are chosen and back to the real time once one is written: a
	// gate needs half a second in which the machine is not too busy, and with many managers on it, it often is.
	ease   *clock
	easeBy time.Duration

	blind atomic.Bool // Jobs and pods are not to be seen

	mu      sync.Mutex
	visits  int
	creates []string // kind and name of what was made
	// instead answers the reading of a run with an older version; nil: none.
	instead *v1alpha1.DFSIORun
	// onPatch and onStatus are called in place of the patching of a pod's status and the writing of a run's.
	onPatch  func(pod *corev1.Pod, patch []byte, do func() error) error
	onStatus func(run *v1alpha1.DFSIORun, do func() error) error
}

func (c *tap) Get(ctx context.Context, key client.ObjectKey, obj client.Object, opts ...client.GetOption) error {
	if c.dead.Load() {
		return errCut
	}
	run, ok := obj.(*v1alpha1.DFSIORun)
	if !ok {
		return c.Client.Get(ctx, key, obj, opts...)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.visits++
	if c.instead != nil {
		c.instead.DeepCopyInto(run)
		return nil
	}
	return c.Client.Get(ctx, key, obj, opts...)
}

// List hides Jobs and pods from a manager whose cache is behind.
func (c *tap) List(ctx context.Context, list client.ObjectList, opts ...client.ListOption) error {
	if c.dead.Load() {
		return errCut
	}
	if c.blind.Load() {
		return nil
	}
	return c.Client.List(ctx, list, opts...)
}

func (c *tap) Create(ctx context.Context, obj client.Object, opts ...client.CreateOption) error {
	if c.dead.Load() {
		return errCut
	}
	err := c.Client.Create(ctx, obj, opts...)
	if err == nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.creates = append(c.creates, fmt.Sprintf("%T %s", obj, obj.GetName()))
	}
	return err
}

func (c *tap) Update(ctx context.Context, obj client.Object, opts ...client.UpdateOption) error {
	if c.dead.Load() {
		return errCut
	}
	return c.Client.Update(ctx, obj, opts...)
}

func (c *tap) Delete(ctx context.Context, obj client.Object, opts ...client.DeleteOption) error {
	if c.dead.Load() {
		return errCut
	}
	return c.Client.Delete(ctx, obj, opts...)
}

func (c *tap) Status() client.SubResourceWriter { return &statusTap{c.Client.Status(), c} }

type statusTap struct {
	client.SubResourceWriter
	tap *tap
}

func (s *statusTap) Update(ctx context.Context, obj client.Object, opts ...client.SubResourceUpdateOption) error {
	if s.tap.dead.Load() {
		return errCut
	}
	do := func() error { return s.SubResourceWriter.Update(ctx, obj, opts...) }
	s.tap.mu.Lock()
	hook := s.tap.onStatus
	s.tap.mu.Unlock()
	run, ok := obj.(controllers.Run)
	if !ok {
		return do()
	}
	if s.tap.ease != nil {
		do = s.tap.eased(run, do)
	}
	dfsio, ok := obj.(*v1alpha1.DFSIORun)
	if !ok {
		return do()
	}
	if hook != nil {
		return hook(dfsio, do)
	}
	return do()
}

// eased sets the clock after the writing of a status: back to the real time once it says that a step runs, ahead else.
func (c *tap) eased(run controllers.Run, write func() error) func() error {
	return func() error {
		err := write()
		_, st := run.RunObject()
		switch n := len(st.Steps); {
		case err != nil || c.ease.ahead.Load() > int64(c.easeBy): // a test has set it
		case n > 0 && st.Steps[n-1].State == v1alpha1.StepRunning:
			c.ease.set(0)
		default:
			c.ease.set(c.easeBy)
		}
		return err
	}
}

func (s *statusTap) Patch(ctx context.Context, obj client.Object, patch client.Patch, opts ...client.SubResourcePatchOption) error {
	if s.tap.dead.Load() {
		return errCut
	}
	do := func() error { return s.SubResourceWriter.Patch(ctx, obj, patch, opts...) }
	s.tap.mu.Lock()
	hook := s.tap.onPatch
	s.tap.mu.Unlock()
	if pod, ok := obj.(*corev1.Pod); ok && hook != nil {
		doc, err := patch.Data(obj)
		if err != nil {
			return err
		}
		return hook(pod, doc, do)
	}
	return do()
}

// serve has every reading of the run answered with an older version of it, or ends that with nil.
func (c *tap) serve(old *v1alpha1.DFSIORun) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.instead, c.visits = old, 0
}

// visited is how often the run was read since serve.
func (c *tap) visited() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.visits
}

// created is what was made so far.
func (c *tap) created() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]string(nil), c.creates...)
}
