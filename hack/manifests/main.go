// Command manifests generates what follows from other sources in this repository: deep copies and CRDs from
// api/v1alpha1, and the chart's copies of the CRDs and of the manager's permissions.
//
// Usage, from the root of the repository:
//
//	go run ./hack/manifests             writes into the repository
//	go run ./hack/manifests -out DIR    writes the same files below DIR, to compare
//
// controller-gen is taken from $HADOOPBENCH_BIN if that holds one, else built from hack/cluster/kubernetes/go.mod. It
// is a process, not a library, so that its dependencies stay out of the operator's module.
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
)

const (
	apiDir   = "api/v1alpha1"
	crdDir   = "config/crd"
	rbacDir  = "config/rbac"
	filesDir = "charts/hadoop-bench-operator/files"

	// maxCRDBytes keeps a CRD well below the 262,144 bytes that `kubectl apply` can put into its annotation.
	maxCRDBytes = 150_000
)

// copiedRoles are the roles whose rules the chart renders under names and in namespaces of its own.
var copiedRoles = []string{"role.yaml", "leader_election_role.yaml", "editor_role.yaml", "viewer_role.yaml"}

func main() {
	out := flag.String("out", ".", "`directory` to write below, laid out as the repository")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, *out); err != nil {
		fmt.Fprintln(os.Stderr, "manifests:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, out string) error {
	if _, err := os.Stat(apiDir); err != nil {
		return fmt.Errorf("run this from the root of the repository: %w", err)
	}
	raw, err := os.MkdirTemp("", "hadoop-bench-crd-")
	if err != nil {
		return fmt.Errorf("make a directory for controller-gen's output: %w", err)
	}
	defer os.RemoveAll(raw)
	if err := controllerGen(ctx,
		"object", "crd", "paths=./"+apiDir,
		"output:object:dir="+filepath.Join(out, apiDir), "output:crd:dir="+raw,
	); err != nil {
		return err
	}
	if err := writeCRDs(raw, out); err != nil {
		return err
	}
	return copyRoles(out)
}

// controllerGen runs controller-gen in the repository's root.
func controllerGen(ctx context.Context, args ...string) error {
	name, prefix := "go", []string{"tool", "-modfile=hack/cluster/kubernetes/go.mod", "controller-gen"}
	if bin := os.Getenv("HADOOPBENCH_BIN"); bin != "" {
		path := filepath.Join(bin, "controller-gen")
		if _, err := os.Stat(path); err == nil {
			name, prefix = path, nil
		}
	}
	cmd := exec.CommandContext(ctx, name, append(prefix, args...)...)
	cmd.Stderr = os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("run controller-gen: %w", err)
	}
	return nil
}

// writeCRDs finishes every CRD in raw and writes it for kustomize and for the chart.
func writeCRDs(raw, out string) error {
	paths, err := filepath.Glob(filepath.Join(raw, "*.yaml"))
	if err != nil {
		return fmt.Errorf("list controller-gen's output: %w", err)
	}
	if len(paths) == 0 {
		return errors.New("controller-gen made no CRD")
	}
	for _, path := range paths {
		name := filepath.Base(path)
		in, err := os.ReadFile(path)
		if err != nil {
			return fmt.Errorf("read a generated CRD: %w", err)
		}
		done, err := finish(in)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if len(done) >= maxCRDBytes {
			return fmt.Errorf("%s has %d bytes, not less than %d: shorten descriptions or embed fewer core types",
				name, len(done), maxCRDBytes)
		}
		if err := write(done, filepath.Join(out, crdDir, name), filepath.Join(out, filesDir, "crds", name)); err != nil {
			return err
		}
	}
	return nil
}

// copyRoles gives the chart the roles that kustomize uses: a chart can read only files of its own.
func copyRoles(out string) error {
	for _, name := range copiedRoles {
		data, err := os.ReadFile(filepath.Join(rbacDir, name))
		if err != nil {
			return fmt.Errorf("read a role: %w", err)
		}
		if err := write(data, filepath.Join(out, filesDir, "rbac", name)); err != nil {
			return err
		}
	}
	return nil
}

// write puts data into each path unless it is there already, so that an unchanged file keeps its time stamp.
func write(data []byte, paths ...string) error {
	for _, path := range paths {
		if old, err := os.ReadFile(path); err == nil && bytes.Equal(old, data) {
			continue
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return fmt.Errorf("make a directory: %w", err)
		}
		if err := os.WriteFile(path, data, 0o644); err != nil {
			return fmt.Errorf("write a manifest: %w", err)
		}
	}
	return nil
}
