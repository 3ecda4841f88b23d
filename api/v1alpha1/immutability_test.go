package v1alpha1_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// freeFields may change at any time.
var freeFields = []string{"suspend", "ttlAfterFinished"}

// change is one way to change one field of a run.
type change struct {
	name      string
	old, next map[string]any
}

// changesOf are the changes of a field between two full specs, seen in the first.
func changesOf(t *testing.T, k kind, f field, a, b map[string]any) []change {
	t.Helper()
	for _, name := range k.apart {
		if name != f.String() {
			a = without(a, name)
		}
	}
	if dependant, ok := k.dependants[f.String()]; ok {
		a = without(a, dependant)
	}
	other, _ := get(t, b, f)
	changes := []change{{"set to other", a, with(t, a, other, f.path...)}}
	if f.optional {
		unset := without(a, f.path...)
		changes = append(changes, change{"set to unset", a, unset}, change{"unset to set", unset, a})
	}
	return changes
}

func TestEveryFieldChangesOnlyWithRerun(t *testing.T) {
	c := newClient(t)
	forKinds(t, func(t *testing.T, k kind) {
		a, b := k.full(t)
		checks := 0
		for _, f := range k.specFields() {
			if f.path[0] == "rerun" {
				continue
			}
			for _, ch := range changesOf(t, k, f, a, b) {
				t.Run(f.String()+"/"+ch.name, func(t *testing.T) { checkChange(t, c, k, f, ch) })
				checks++
			}
		}
		t.Logf("%d changes of %d fields", checks, len(k.specFields()))
	})
}

func checkChange(t *testing.T, c client.Client, k kind, f field, ch change) {
	ctx := t.Context()
	object := k.object(objectName(t.Name()[len("TestEveryFieldChangesOnlyWithRerun/"):]), ch.old)
	if err := c.Create(ctx, object); err != nil {
		t.Fatal("create:", err)
	}
	err := dryUpdate(ctx, c, object, ch.next)
	if slices.Contains(freeFields, f.path[0]) {
		if err != nil {
			t.Error("change of a free field:", err)
		}
		return
	}
	want := []cause{{metav1.CauseTypeForbidden, "spec." + f.path[0], "Forbidden: changes only together with spec.rerun"}}
	if diff := cmp.Diff(want, causes(t, err)); diff != "" {
		t.Errorf("change without rerun (-want +got):\n%s", diff)
	}
	if err := dryUpdate(ctx, c, object, with(t, ch.next, "another", "rerun")); err != nil {
		t.Error("change with another rerun:", err)
	}
}

func TestRerunToken(t *testing.T) {
	c := newClient(t)
	forKinds(t, func(t *testing.T, k kind) {
		first := k.minimal(t)
		changed := with(t, first, int64(7), "repeats")
		tests := map[string]struct {
			old, next map[string]any
			refused   bool
		}{
			"changed alone":                     {with(t, first, "1", "rerun"), with(t, first, "2", "rerun"), false},
			"changed with another field":        {with(t, first, "1", "rerun"), with(t, changed, "2", "rerun"), false},
			"set for the first time":            {first, with(t, changed, "1", "rerun"), false},
			"removed alone":                     {with(t, first, "1", "rerun"), first, false},
			"removed with another field":        {with(t, first, "1", "rerun"), changed, true},
			"the same with another field":       {with(t, first, "1", "rerun"), with(t, changed, "1", "rerun"), true},
			"never there with another field":    {first, changed, true},
			"never there and nothing changed":   {first, first, false},
			"equal quantity, written otherwise": {cpu(t, first, "1"), cpu(t, first, "1000m"), true},
		}
		for name, tc := range tests {
			t.Run(name, func(t *testing.T) {
				object := k.object(objectName("rerun", name), tc.old)
				if err := c.Create(t.Context(), object); err != nil {
					t.Fatal("create:", err)
				}
				err := dryUpdate(t.Context(), c, object, tc.next)
				if tc.refused {
					if got := causes(t, err); len(got) != 1 || got[0].Type != metav1.CauseTypeForbidden {
						t.Errorf("causes = %v, want one of type %s", got, metav1.CauseTypeForbidden)
					}
				} else if err != nil {
					t.Error(err)
				}
			})
		}
	})
}

func cpu(t *testing.T, spec map[string]any, quantity string) map[string]any {
	t.Helper()
	return with(t, spec, quantity, "podTemplate", "resources", "requests", "cpu")
}
