package controlplane

import (
	"strings"
	"testing"

	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
)

func electLeader(o *ctrl.Options) {
	o.LeaderElection, o.LeaderElectionID, o.LeaderElectionNamespace = true, "hadoop-bench-operator", systemNamespace
}

// TestRights: the manager may do what it must in any namespace, and nothing of what it must not. That the rights are
// enough is shown by every other test: all managers here have only these.
func TestRights(t *testing.T) {
	t.Parallel()
	e := cluster(t)
	may := func(verb, what string) bool {
		t.Helper()
		group, resource, _ := strings.Cut(what, ":")
		resource, sub, _ := strings.Cut(resource, "/")
		review, err := e.kube.AuthorizationV1().SubjectAccessReviews().Create(t.Context(), &authorizationv1.SubjectAccessReview{
			Spec: authorizationv1.SubjectAccessReviewSpec{
				User:               managerUser,
				ResourceAttributes: &authorizationv1.ResourceAttributes{Namespace: "default", Verb: verb, Group: group, Resource: resource, Subresource: sub},
			},
		}, metav1.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return review.Status.Allowed
	}
	allowed := map[string]string{
		"hadoopbench.dev:dfsioruns": "get list watch", "hadoopbench.dev:dfsioruns/status": "update", "hadoopbench.dev:dfsioruns/finalizers": "update",
		"hadoopbench.dev:nnthroughputruns": "get list watch", "hadoopbench.dev:nnthroughputruns/status": "update", "hadoopbench.dev:nnthroughputruns/finalizers": "update",
		"hadoopbench.dev:ycsbruns": "get list watch", "hadoopbench.dev:ycsbruns/status": "update", "hadoopbench.dev:ycsbruns/finalizers": "update",
		"batch:jobs": "get list watch create delete", ":pods": "get list watch", ":pods/status": "patch", ":configmaps": "get create update",
		":events": "list", "events.k8s.io:events": "create patch",
	}
	for what, verbs := range allowed {
		for _, verb := range strings.Fields(verbs) {
			if !may(verb, what) {
				t.Errorf("the manager may not %s %s", verb, what)
			}
		}
	}
	denied := map[string]string{
		":secrets": "get list watch create update patch delete", ":nodes": "get list watch update patch", ":namespaces": "get list create delete",
		":pods": "create update patch delete deletecollection", ":pods/exec": "get create", ":pods/attach": "create", ":pods/portforward": "create",
		":pods/log": "get", ":pods/ephemeralcontainers": "update patch", ":serviceaccounts/token": "create", ":serviceaccounts": "get create impersonate",
		"batch:jobs": "update patch deletecollection", "batch:cronjobs": "create", "apps:deployments": "get create", ":pods/eviction": "create",
		":configmaps": "list watch patch delete deletecollection", ":events": "get watch update delete", "hadoopbench.dev:dfsioruns/status": "patch",
		"hadoopbench.dev:dfsioruns":        "create update patch delete",
		"hadoopbench.dev:nnthroughputruns": "create update patch delete", "hadoopbench.dev:nnthroughputruns/status": "patch",
		"hadoopbench.dev:ycsbruns": "create update patch delete", "hadoopbench.dev:ycsbruns/status": "patch",
		"rbac.authorization.k8s.io:clusterroles": "get create bind escalate", "coordination.k8s.io:leases": "get create update",
	}
	for what, verbs := range denied {
		for _, verb := range strings.Fields(verbs) {
			if may(verb, what) {
				t.Errorf("the manager may %s %s, which it does not need", verb, what)
			}
		}
	}
}
