package v1alpha1_test

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/hadoop-bench/operator/api/v1alpha1"
)

func TestDurationIsAString(t *testing.T) {
	tests := map[string]struct {
		text string
		want time.Duration
		back string
	}{
		"seconds":      {`"5s"`, 5 * time.Second, `"5s"`},
		"milliseconds": {`"1500ms"`, 1500 * time.Millisecond, `"1.5s"`},
		"several":      {`"1h30m"`, 90 * time.Minute, `"1h30m0s"`},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var d v1alpha1.Duration
			if err := json.Unmarshal([]byte(tc.text), &d); err != nil {
				t.Fatal(err)
			}
			if d.Duration.Duration != tc.want {
				t.Errorf("duration = %v, want %v", d.Duration.Duration, tc.want)
			}
			back, err := json.Marshal(d)
			if err != nil {
				t.Fatal(err)
			}
			if string(back) != tc.back {
				t.Errorf("JSON = %s, want %s", back, tc.back)
			}
		})
	}
}

func TestAddToScheme(t *testing.T) {
	scheme := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	for _, k := range kinds {
		for _, name := range []string{k.name, k.name + "List"} {
			if !scheme.Recognizes(v1alpha1.GroupVersion.WithKind(name)) {
				t.Errorf("the scheme does not know %s", name)
			}
		}
	}
}

func TestRunObjectIsTheRunsOwn(t *testing.T) {
	forKinds(t, func(t *testing.T, k kind) {
		object := k.newRun()
		spec, status := object.RunObject()
		spec.Rerun, status.Phase = "token", "Running"
		spec, status = object.RunObject()
		if spec.Rerun != "token" || status.Phase != "Running" {
			t.Errorf("rerun = %q, phase = %q; want token, Running: RunObject gave a copy", spec.Rerun, status.Phase)
		}
	})
}

// typed reads an object into its Go type.
func typed(t *testing.T, k kind, name string, spec map[string]any) run {
	t.Helper()
	raw, err := json.Marshal(k.object(name, spec))
	if err != nil {
		t.Fatal(err)
	}
	object := k.newRun()
	if err := json.Unmarshal(raw, object); err != nil {
		t.Fatal(err)
	}
	return object
}

// TestDeepCopyIsDeep changes every list, map and pointer of a copy: the manager's cache shares the original.
func TestDeepCopyIsDeep(t *testing.T) {
	forKinds(t, func(t *testing.T, k kind) {
		a, _ := k.full(t)
		object := typed(t, k, "copy", a)
		_, status := object.RunObject()
		*status = fullStatus()
		list := k.newList()
		if err := meta.SetList(list, []runtime.Object{object}); err != nil {
			t.Fatal(err)
		}
		before, err := json.Marshal(list)
		if err != nil {
			t.Fatal(err)
		}
		clone := list.DeepCopyObject()
		if !reflect.DeepEqual(list, clone) {
			t.Fatal("the copy differs from the original")
		}
		scramble(reflect.ValueOf(clone))
		after, err := json.Marshal(list)
		if err != nil {
			t.Fatal(err)
		}
		if string(before) != string(after) {
			t.Error("a change of the copy changed the original")
		}
	})
}

// scramble overwrites whatever can be reached from a value.
func scramble(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			scramble(v.Elem())
		}
	case reflect.Struct:
		for _, f := range v.Fields() {
			if f.CanSet() {
				scramble(f)
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			scramble(v.Index(i))
		}
	case reflect.Map:
		for _, key := range v.MapKeys() {
			v.SetMapIndex(key, reflect.Zero(v.Type().Elem()))
		}
	case reflect.String:
		v.SetString("scrambled")
	case reflect.Bool:
		v.SetBool(!v.Bool())
	case reflect.Int, reflect.Int32, reflect.Int64:
		v.SetInt(v.Int() + 1)
	}
}

// fullStatus has a value in every field of the status, whatever its type is made of.
func fullStatus() v1alpha1.RunStatus {
	var status v1alpha1.RunStatus
	fill(reflect.ValueOf(&status).Elem())
	return status
}

func fill(v reflect.Value) {
	switch value := v.Addr().Interface().(type) {
	case *metav1.Time:
		*value = metav1.NewTime(time.Date(2026, 1, 2, 3, 4, 5, 0, time.Local))
		return
	case *metav1.MicroTime:
		*value = metav1.NewMicroTime(time.Date(2026, 1, 2, 3, 4, 5, 123456000, time.Local))
		return
	case *metav1.Condition:
		value.Type, value.Reason = v1alpha1.ConditionCompleted, v1alpha1.ReasonAllStepsDone
		value.Status, value.Message, value.ObservedGeneration = metav1.ConditionTrue, "all steps ran to their end", 1
		fill(reflect.ValueOf(&value.LastTransitionTime).Elem())
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem())
	case reflect.Struct:
		for _, f := range v.Fields() {
			fill(f)
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0))
	case reflect.Map:
		key, element := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		fill(key)
		fill(element)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(key, element)
	case reflect.String:
		v.SetString("1")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int32, reflect.Int64:
		v.SetInt(1)
	}
}
