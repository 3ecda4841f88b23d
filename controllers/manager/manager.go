// Package manager puts the controllers into a process: flags, cache, probes, leader election.
package manager

import (
	"context"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	corev1 "k8s.io/api/core/v1"

	"github.com/hadoop-bench/operator/api/v1alpha1"
	"github.com/hadoop-bench/operator/controllers"
)

// Options are the manager's settings.
type Options struct {
	RunnerImage    string // image of runner pods
	PullSecrets    string // names of the Secrets to pull it with, separated by commas
	Namespace      string // watched namespace; empty: all
	LeaderElection bool
	LeaderID       string // name of the lease
	MetricsAddress string // "0": none
	ProbeAddress   string // "0": none
}

// Client limits: a gate of 1,000 pods is patched in a few seconds. The API server's own fairness protects it.
const (
	clientQPS   = 200
	clientBurst = 400
)

// Exit codes.
const (
	exitDone  = 0
	exitError = 1
	exitUsage = 2
)

// Main runs the manager until ctx ends and returns the process's exit code.
func Main(ctx context.Context, args []string, stderr io.Writer) int {
	o, err := parse(args, stderr)
	if err != nil {
		return exitUsage
	}
	log := logr.FromSlogHandler(slog.NewJSONHandler(stderr, nil))
	ctrl.SetLogger(log)
	cfg, err := ctrl.GetConfig()
	if err != nil {
		log.Error(err, "no way to the API server")
		return exitError
	}
	if err := Run(ctx, cfg, o); err != nil {
		log.Error(err, "manager failed")
		return exitError
	}
	return exitDone
}

func parse(args []string, stderr io.Writer) (Options, error) {
	var o Options
	f := flag.NewFlagSet("manager", flag.ContinueOnError)
	f.SetOutput(stderr)
	f.StringVar(&o.RunnerImage, "runner-image", "", "image of the runner's pods (required)")
	f.StringVar(&o.PullSecrets, "runner-image-pull-secrets", "", "names of the Secrets to pull it with, separated by commas; they must exist in the namespace of each run")
	f.StringVar(&o.Namespace, "namespace", "", "watch this namespace only; default: all")
	f.BoolVar(&o.LeaderElection, "leader-elect", false, "let one of several managers act")
	f.StringVar(&o.LeaderID, "leader-election-id", "hadoop-bench-operator", "name of the leader election's lease")
	f.StringVar(&o.MetricsAddress, "metrics-bind-address", "0", "address of /metrics, such as :8080; 0: none")
	f.StringVar(&o.ProbeAddress, "health-probe-bind-address", ":8081", "address of /healthz and /readyz; 0: none")
	if err := f.Parse(args); err != nil {
		return o, err
	}
	var err error
	switch {
	case f.NArg() > 0:
		err = fmt.Errorf("argument %q is not known; options begin with a hyphen", f.Arg(0))
	case o.RunnerImage == "":
		err = fmt.Errorf("-runner-image is missing; name the image of the runner")
	}
	if err != nil {
		_, _ = fmt.Fprintln(stderr, "manager:", err)
	}
	return o, err
}

// Run runs the controllers until ctx ends.
func Run(ctx context.Context, cfg *rest.Config, o Options) error {
	scheme, err := Scheme()
	if err != nil {
		return err
	}
	cfg = rest.CopyConfig(cfg)
	cfg.QPS, cfg.Burst = clientQPS, clientBurst
	graceful := 10 * time.Second
	mgr, err := ctrl.NewManager(cfg, ctrl.Options{
		Scheme:                        scheme,
		Cache:                         controllers.CacheOptions(o.Namespace),
		Client:                        client.Options{Cache: &client.CacheOptions{DisableFor: []client.Object{&corev1.ConfigMap{}, &corev1.Event{}}}},
		LeaderElection:                o.LeaderElection,
		LeaderElectionID:              o.LeaderID,
		LeaderElectionReleaseOnCancel: true,
		Metrics:                       metricsserver.Options{BindAddress: o.MetricsAddress},
		HealthProbeBindAddress:        o.ProbeAddress,
		GracefulShutdownTimeout:       &graceful,
	})
	if err != nil {
		return fmt.Errorf("set up manager: %w", err)
	}
	if err := mgr.AddHealthzCheck("ping", healthz.Ping); err != nil {
		return fmt.Errorf("set up health check: %w", err)
	}
	if err := mgr.AddReadyzCheck("ping", healthz.Ping); err != nil {
		return fmt.Errorf("set up readiness check: %w", err)
	}
	var reconcilers []*controllers.Reconciler
	for _, b := range controllers.Benchmarks() {
		reconcilers = append(reconcilers, &controllers.Reconciler{
			Client: mgr.GetClient(), Direct: mgr.GetAPIReader(), Benchmark: b, RunnerImage: o.RunnerImage,
			PullSecrets: pullSecrets(o.PullSecrets),
			Recorder:    mgr.GetEventRecorder("hadoop-bench-operator"), Clock: clock.RealClock{},
		})
	}
	if err := controllers.SetupWithManager(ctx, mgr, reconcilers...); err != nil {
		return err
	}
	if err := mgr.Start(ctx); err != nil {
		return fmt.Errorf("run manager: %w", err)
	}
	return nil
}

func pullSecrets(names string) []string {
	return strings.FieldsFunc(names, func(r rune) bool { return r == ',' })
}

// Scheme knows the types the manager works with.
func Scheme() (*runtime.Scheme, error) {
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, v1alpha1.AddToScheme} {
		if err := add(s); err != nil {
			return nil, fmt.Errorf("register types: %w", err)
		}
	}
	return s, nil
}
