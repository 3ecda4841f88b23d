package controllers

import (
	"context"
	"fmt"
	"maps"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/hadoop-bench/operator/controllers/jobs"
	"github.com/hadoop-bench/operator/controllers/results"
)

// rowsKey is the key of the ConfigMaps with the shards' rows.
const rowsKey = "shards.jsonl.gz"

// Bounds of what is kept. A ConfigMap may hold 1 MiB.
const (
	maxConfigMap = 1000 << 10
	maxRowsTotal = 4 << 20
	// rowsPerShard is what a compressed row takes, about, so that the sum of all rows needs no reading.
	rowsPerShard = 48
)

// persist keeps the results of an attempt: report.json and the tool's own text in one ConfigMap of the execution, and
// all shards' rows in one of the measurement. It is done before the status says that the attempt is over, and may be
// done again after a crash: it puts the same measurement into the same place.
func (r *Reconciler) persist(ctx context.Context, o *observed, p *results.Persistence) error {
	d := p.Document
	d.Kind, d.Namespace, d.Name, d.UID, d.Execution = r.Benchmark.Kind(), o.run.GetNamespace(), o.run.GetName(), string(o.run.GetUID()), p.Identity.Execution
	if p.Rows != nil {
		switch {
		case len(p.Rows) > maxConfigMap || roomNeeded(d) > maxRowsTotal:
			d.RowsOmitted++
		default:
			name := jobs.RowsName(o.run.GetName(), p.Identity)
			if err := r.upsert(ctx, o, name, nil, map[string][]byte{rowsKey: p.Rows}); err != nil {
				return fmt.Errorf("keep shards' rows: %w", err)
			}
		}
	}
	packed, err := d.Pack(r.Benchmark.TextFile(), maxConfigMap)
	if err != nil {
		return err
	}
	if err := r.upsert(ctx, o, jobs.ReportName(o.run.GetName(), o.run.GetUID(), p.Identity.Execution), packed.Data, packed.Binary); err != nil {
		return fmt.Errorf("keep results: %w", err)
	}
	return nil
}

// roomNeeded estimates what all rows of the execution so far take, compressed.
func roomNeeded(d *results.Document) int {
	total := 0
	for _, s := range d.Sections {
		if s.Merged != nil {
			total += int(s.Merged.Shards.Expected) * rowsPerShard
		}
	}
	return total
}

// upsert makes a ConfigMap of the run, or gives the one that is there this content. One of the same name that belongs to
// somebody else is left alone.
func (r *Reconciler) upsert(ctx context.Context, o *observed, name string, data map[string]string, binary map[string][]byte) error {
	cm := &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: o.run.GetNamespace(), Name: name, OwnerReferences: []metav1.OwnerReference{r.owner(o.run)},
			Labels:      map[string]string{jobs.LabelManaged: jobs.ManagedBy, jobs.LabelRunUID: string(o.run.GetUID())},
			Annotations: map[string]string{jobs.AnnotationRun: o.run.GetName()},
		},
		Data: data, BinaryData: binary,
	}
	err := r.Client.Create(ctx, cm, fieldOwner)
	if !apierrors.IsAlreadyExists(err) {
		return err
	}
	var old corev1.ConfigMap
	if err := r.Direct.Get(ctx, types.NamespacedName{Namespace: cm.Namespace, Name: name}, &old); err != nil {
		return err
	}
	if !metav1.IsControlledBy(&old, o.run) {
		return &conflictError{"ConfigMap", name}
	}
	if maps.Equal(old.Data, data) && binary == nil {
		return nil
	}
	old.Data, old.BinaryData = data, binary
	return r.Client.Update(ctx, &old, fieldOwner)
}

// conflictError: an object of a child's name belongs to somebody else.
type conflictError struct{ kind, name string }

func (e *conflictError) Error() string {
	return fmt.Sprintf("%s %s exists and belongs to somebody else; delete or rename it", e.kind, e.name)
}
