package controlplane

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/yaml"

	"github.com/hadoop-bench/operator/controllers/jobs"
)

// Annotations by which tests move pods of runs; testdata/stages.yaml reads most of them.
const (
	annotationExitCode  = "test/exit-code"  // the container ended with this code ...
	annotationMessage   = "test/message"    // ... and this termination message
	annotationHold      = "test/hold"       // the pod does not get Ready before this is removed
	annotationPullError = "test/pull-error" // the image cannot be pulled
)

// startKWOK starts the kubelets' stand-in.
func (e *environment) startKWOK(_ context.Context, bin string) error {
	stages, err := stages()
	if err != nil {
		return err
	}
	config := filepath.Join(e.dir, "kwok.yaml")
	if err := os.WriteFile(config, stages, 0o600); err != nil {
		return err
	}
	address, err := freeAddress()
	if err != nil {
		return err
	}
	return e.processes.start(filepath.Join(e.dir, "kwok.log"), filepath.Join(bin, "kwok"),
		"--kubeconfig="+e.kubeconfig, "--config="+config, "--manage-all-nodes=true", "--node-ip=127.0.0.1",
		"--node-lease-duration-seconds=40", "--server-address="+address)
}

// stages are KWOK's own fast stages, which make nodes Ready, pods run and deleted pods go, changed in this only: a test
// can hold a pod back, a pod of a run does not complete by itself, and when it is deleted it ends first.
func stages() ([]byte, error) {
	module, err := moduleDir("sigs.k8s.io/kwok")
	if err != nil {
		return nil, err
	}
	stage := func(file string) (*unstructured.Unstructured, error) {
		var u unstructured.Unstructured
		return &u, readYAML(filepath.Join(module, "kustomize/stage", file), &u.Object)
	}
	node, err := stage("node/fast/node-initialize.yaml")
	if err != nil {
		return nil, err
	}
	ready, err := stage("pod/fast/pod-ready.yaml")
	if err != nil {
		return nil, err
	}
	ofOthers, err := stage("pod/fast/pod-delete.yaml")
	if err != nil {
		return nil, err
	}
	ofRuns := ofOthers.DeepCopy()
	ofRuns.SetName("run-pod-delete")
	label := fmt.Sprintf(".metadata.labels[%q]", jobs.LabelManaged)
	type match = map[string]any
	for u, more := range map[*unstructured.Unstructured][]any{
		ready: {
			match{"key": fmt.Sprintf(".metadata.annotations[%q]", annotationHold), "operator": "DoesNotExist"},
			match{"key": fmt.Sprintf(".metadata.annotations[%q]", annotationPullError), "operator": "DoesNotExist"},
		},
		ofOthers: {match{"key": label, "operator": "DoesNotExist"}},
		ofRuns: {
			match{"key": label, "operator": "In", "values": []any{jobs.ManagedBy}},
			match{"key": ".status.phase", "operator": "In", "values": []any{"Succeeded", "Failed"}},
		},
	} {
		path := []string{"spec", "selector", "matchExpressions"}
		old, found, err := unstructured.NestedSlice(u.Object, path...)
		if err != nil || !found {
			return nil, fmt.Errorf("KWOK's stage %s has no matchExpressions: %w", u.GetName(), err)
		}
		if err := unstructured.SetNestedSlice(u.Object, append(old, more...), path...); err != nil {
			return nil, err
		}
	}
	out, err := os.ReadFile("testdata/stages.yaml")
	if err != nil {
		return nil, err
	}
	for _, u := range []*unstructured.Unstructured{node, ready, ofOthers, ofRuns} {
		doc, err := yaml.Marshal(u.Object)
		if err != nil {
			return nil, err
		}
		out = append(append(out, "\n---\n"...), doc...)
	}
	return out, nil
}

// moduleDir is where the source of a module lies that hack/cluster pins.
func moduleDir(module string) (string, error) {
	cmd := exec.Command("go", "mod", "download", "-json", module)
	cmd.Dir = filepath.Join(root, "hack/cluster/kubernetes")
	cmd.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=")
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s: %w: %s", strings.Join(cmd.Args, " "), err, out)
	}
	var m struct{ Dir string }
	return m.Dir, json.Unmarshal(out, &m)
}

func freeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}

// addNodes makes the fake nodes and waits until pods can be scheduled onto them.
func (e *environment) addNodes(ctx context.Context) error {
	for i := range nodes {
		room := corev1.ResourceList{
			corev1.ResourceCPU: resource.MustParse("512"), corev1.ResourceMemory: resource.MustParse("1Ti"), corev1.ResourcePods: resource.MustParse("5000"),
		}
		name := fmt.Sprintf("fake-%d", i+1)
		n := &corev1.Node{
			ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{corev1.LabelHostname: name, corev1.LabelOSStable: "linux", corev1.LabelArchStable: "amd64"}},
			Status:     corev1.NodeStatus{Allocatable: room, Capacity: room},
		}
		if err := e.client.Create(ctx, n); err != nil {
			return err
		}
	}
	err := wait.PollUntilContextTimeout(ctx, 100*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
		if err := e.processes.alive(); err != nil {
			return false, err
		}
		list, err := e.kube.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
		if err != nil {
			return false, err
		}
		ready := 0
		for _, n := range list.Items {
			for _, c := range n.Status.Conditions {
				if c.Type == corev1.NodeReady && c.Status == corev1.ConditionTrue && len(n.Spec.Taints) == 0 {
					ready++
				}
			}
		}
		return ready == nodes, nil
	})
	if err != nil {
		return fmt.Errorf("wait for KWOK's nodes (logs in %s): %w", e.dir, err)
	}
	return nil
}
