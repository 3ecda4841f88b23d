package manager

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParse(t *testing.T) {
	defaults := func(edit func(*Options)) Options {
		o := Options{RunnerImage: "runner:1", LeaderID: "hadoop-bench-operator", MetricsAddress: "0", ProbeAddress: ":8081"}
		edit(&o)
		return o
	}
	tests := map[string]struct {
		args []string
		want Options
	}{
		"defaults":        {[]string{"-runner-image=runner:1"}, defaults(func(*Options) {})},
		"two hyphens":     {[]string{"--runner-image", "runner:1"}, defaults(func(*Options) {})},
		"one namespace":   {[]string{"-runner-image=runner:1", "-namespace=bench"}, defaults(func(o *Options) { o.Namespace = "bench" })},
		"leader":          {[]string{"-runner-image=runner:1", "-leader-elect", "-leader-election-id=mine"}, defaults(func(o *Options) { o.LeaderElection, o.LeaderID = true, "mine" })},
		"addresses":       {[]string{"-runner-image=runner:1", "-metrics-bind-address=:8080", "-health-probe-bind-address=0"}, defaults(func(o *Options) { o.MetricsAddress, o.ProbeAddress = ":8080", "0" })},
		"pull secrets":    {[]string{"-runner-image=runner:1", "-runner-image-pull-secrets=a,b"}, defaults(func(o *Options) { o.PullSecrets = "a,b" })},
		"last one counts": {[]string{"-runner-image=runner:0", "-runner-image=runner:1"}, defaults(func(*Options) {})},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var stderr strings.Builder
			got, err := parse(tc.args, &stderr)
			if err != nil || stderr.String() != "" {
				t.Fatalf("error %v, output %q", err, stderr.String())
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("options (-want +got):\n%s", diff)
			}
		})
	}
}

// TestMainRefuses: what is wrong with the command line is said once, and there is an exit code of its own for it.
func TestMainRefuses(t *testing.T) {
	tests := map[string]struct {
		args []string
		want string
	}{
		"no image":       {nil, "manager: -runner-image is missing; name the image of the runner\n"},
		"argument":       {[]string{"-runner-image=a", "run"}, "manager: argument \"run\" is not known; options begin with a hyphen\n"},
		"unknown option": {[]string{"-runner-images=a"}, "flag provided but not defined: -runner-images\n"},
		"no value":       {[]string{"-runner-image"}, "flag needs an argument: -runner-image\n"},
		"odd value":      {[]string{"-runner-image=a", "-leader-elect=maybe"}, "invalid boolean value \"maybe\" for -leader-elect: parse error\n"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var stderr strings.Builder
			if code := Main(t.Context(), tc.args, &stderr); code != exitUsage {
				t.Errorf("exit code %d, want %d", code, exitUsage)
			}
			if got := stderr.String(); !strings.HasPrefix(got, tc.want) || strings.Count(got, tc.want) != 1 {
				t.Errorf("output %q does not begin with %q", got, tc.want)
			}
		})
	}
}

func TestScheme(t *testing.T) {
	s, err := Scheme()
	if err != nil {
		t.Fatal(err)
	}
	for _, gvk := range []struct{ group, version, kind string }{
		{"hadoopbench.dev", "v1alpha1", "DFSIORun"}, {"hadoopbench.dev", "v1alpha1", "NNThroughputRun"}, {"", "v1", "Pod"}, {"batch", "v1", "Job"}, {"events.k8s.io", "v1", "Event"},
	} {
		found := false
		for known := range s.AllKnownTypes() {
			found = found || known.Group == gvk.group && known.Version == gvk.version && known.Kind == gvk.kind
		}
		if !found {
			t.Errorf("%v is not known", gvk)
		}
	}
}

func TestPullSecrets(t *testing.T) {
	for in, want := range map[string][]string{"": {}, "a": {"a"}, "a,b": {"a", "b"}, ",a,,b,": {"a", "b"}} {
		if diff := cmp.Diff(want, pullSecrets(in)); diff != "" {
			t.Errorf("pullSecrets(%q) (-want +got):\n%s", in, diff)
		}
	}
}
