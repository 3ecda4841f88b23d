package chart

import (
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation"
)

const everything = "metrics: {enabled: true, serviceMonitor: {enabled: true}}"

func TestNamesAreValid(t *testing.T) {
	tests := map[string]release{
		"short":               {"a", "b", everything},
		"contains the chart":  {"my-hadoop-bench-operator", "b", everything},
		"longest":             {strings.Repeat("n", 53), strings.Repeat("s", 63), everything},
		"longest, namespaced": {strings.Repeat("n", 53), strings.Repeat("s", 63), everything + "\nwatchNamespace: " + strings.Repeat("w", 63)},
		"cut before a dash":   {strings.Repeat("n", 50) + "-aa", "b", everything},
		"dots":                {"team.one", "b", everything},
		"words of YAML":       {"no", "on", everything + "\nnameOverride: 'yes'\nfullnameOverride: 'y'\nwatchNamespace: 'off'\npriorityClassName: 'true'"},
		"numbers":             {"1", "2", everything + "\nwatchNamespace: '3'\npriorityClassName: '4'"},
		"digit first":         {"1st", "b", everything},
		"long override":       {"a", "b", everything + "\nfullnameOverride: " + strings.Repeat("f", 63)},
		"odd name override":   {"a", "b", everything + "\nnameOverride: Bench.Op"},
	}
	for name, r := range tests {
		t.Run(name, func(t *testing.T) {
			for key, u := range mustRender(t, r) {
				if u.GetKind() == "CustomResourceDefinition" {
					continue
				}
				if problems := validation.IsDNS1035Label(u.GetName()); len(problems) > 0 {
					t.Errorf("%s: %v", key, problems)
				}
				if u.GetKind() == "Deployment" {
					as[appsv1.Deployment](t, u)
				}
				for label, value := range u.GetLabels() {
					if problems := validation.IsValidLabelValue(value); len(problems) > 0 {
						t.Errorf("%s: label %s: %v", key, label, problems)
					}
				}
			}
		})
	}
}

// TestReleasesShareNothing: two releases in one cluster have no object in common and do not select each other's pods.
func TestReleasesShareNothing(t *testing.T) {
	const noCRDs = everything + "\ncrds: {enabled: false}"
	long := strings.Repeat("n", 52)
	tests := map[string]struct{ one, two release }{
		"two names, one namespace":      {release{"a", "x", noCRDs}, release{"b", "x", noCRDs}},
		"one name, two namespaces":      {release{"a", "x", noCRDs}, release{"a", "y", noCRDs}},
		"long names, last letter other": {release{long + "a", "x", noCRDs}, release{long + "b", "x", noCRDs}},
		"dot and dash":                  {release{"a.b", "x", noCRDs}, release{"a-b", "x", noCRDs}},
		"one watched namespace each":    {release{"a", "x", noCRDs + "\nwatchNamespace: u"}, release{"b", "x", noCRDs + "\nwatchNamespace: v"}},
		"same name watches from two":    {release{"a", "x", noCRDs + "\nwatchNamespace: u"}, release{"a", "y", noCRDs + "\nwatchNamespace: u"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			one, two := mustRender(t, tc.one), mustRender(t, tc.two)
			for _, key := range one.keys() {
				if two[key] != nil {
					t.Errorf("both releases have %s", key)
				}
			}
			d1, d2 := as[appsv1.Deployment](t, one.only(t, "Deployment")), as[appsv1.Deployment](t, two.only(t, "Deployment"))
			selector := labels.SelectorFromSet(d1.Spec.Selector.MatchLabels)
			if d1.Namespace == d2.Namespace && selector.Matches(labels.Set(d2.Spec.Template.Labels)) {
				t.Errorf("the first release's selector %s matches the second one's pods", selector)
			}
			id1, id2 := leaderID(d1), leaderID(d2)
			if d1.Namespace == d2.Namespace && id1 == id2 {
				t.Errorf("both releases lead by the Lease %s", id1)
			}
		})
	}
}

func leaderID(d appsv1.Deployment) string {
	return flag(d.Spec.Template.Spec.Containers[0], "leader-election-id")
}

func TestSelectorsMatchTheManager(t *testing.T) {
	for name, r := range map[string]release{"default": {values: everything}, "longest": {strings.Repeat("n", 53), "x", everything}} {
		t.Run(name, func(t *testing.T) {
			list := mustRender(t, r)
			d := as[appsv1.Deployment](t, list.only(t, "Deployment"))
			service := as[corev1.Service](t, list.only(t, "Service"))
			pod := labels.Set(d.Spec.Template.Labels)
			if !labels.SelectorFromSet(d.Spec.Selector.MatchLabels).Matches(pod) {
				t.Error("the Deployment does not select its pods")
			}
			if !labels.SelectorFromSet(service.Spec.Selector).Matches(pod) {
				t.Error("the Service does not select the manager")
			}
			ports := d.Spec.Template.Spec.Containers[0].Ports
			if !slices.ContainsFunc(ports, func(p corev1.ContainerPort) bool { return p.Name == service.Spec.Ports[0].TargetPort.String() }) {
				t.Errorf("the Service leads to port %s, which is not among %v", service.Spec.Ports[0].TargetPort.String(), ports)
			}
		})
	}
}
