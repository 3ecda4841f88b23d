// Package v1alpha1 is the API of the operator: one kind per benchmark tool, the types they share, and the conditions
// and reasons that tell how a run went.
//
// +kubebuilder:object:generate=true
// +groupName=hadoopbench.dev
package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupVersion is the group and version of every kind in this package.
var GroupVersion = schema.GroupVersion{Group: "hadoopbench.dev", Version: "v1alpha1"}

// AddToScheme registers the kinds of this package.
func AddToScheme(s *runtime.Scheme) error {
	s.AddKnownTypes(GroupVersion, &DFSIORun{}, &DFSIORunList{}, &NNThroughputRun{}, &NNThroughputRunList{}, &YCSBRun{}, &YCSBRunList{})
	metav1.AddToGroupVersion(s, GroupVersion)
	return nil
}
