package controlplane

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/hadoop-bench/operator/controllers/jobs"
	"github.com/hadoop-bench/operator/runner/plan"
	"github.com/hadoop-bench/operator/runner/report"
)

// player plays the runner in every pod of a run: it reads the pod's plan, waits for the start order, measures, obeys an
// order to stop and the signal that a deletion sends, and leaves a report. It knows a pod as the kubelet would.
type player struct {
	client client.Client
	pods   client.Reader

	mu     sync.Mutex
	stages map[string]*script   // by namespace
	shards map[types.UID]*actor // by pod
}

// actor is one pod's runner.
type actor struct {
	mu      sync.Mutex
	plan    *plan.Plan
	started bool // the measurement began
	done    bool // it left its report
}

// script says how the shards of a namespace behave, and remembers what they did.
type script struct {
	mu      sync.Mutex
	held    map[string]bool            // steps that do not end by themselves
	failing map[string]*report.Failure // steps whose shards fail, and why
	started []report.Identity
	reports []report.Report
	starts  map[types.UID]string // start orders as pods saw them
}

func newPlayer(c client.Client, pods client.Reader) *player {
	return &player{client: c, pods: pods, stages: map[string]*script{}, shards: map[types.UID]*actor{}}
}

// OnAdd, OnUpdate and OnDelete make the player an informer's handler.
func (p *player) OnAdd(obj any, _ bool) { p.seen(obj) }
func (p *player) OnUpdate(_, obj any)   { p.seen(obj) }
func (p *player) OnDelete(any)          {}

func (p *player) seen(obj any) {
	if pod, ok := obj.(*corev1.Pod); ok && pod.Labels[jobs.LabelManaged] == jobs.ManagedBy && pod.Status.Phase == corev1.PodRunning {
		go p.play(pod.DeepCopy())
	}
}

func (p *player) script(namespace string) *script {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.stages[namespace]
	if s == nil {
		s = &script{held: map[string]bool{}, failing: map[string]*report.Failure{}, starts: map[types.UID]string{}}
		p.stages[namespace] = s
	}
	return s
}

func (p *player) actor(pod types.UID) *actor {
	p.mu.Lock()
	defer p.mu.Unlock()
	a := p.shards[pod]
	if a == nil {
		a = &actor{}
		p.shards[pod] = a
	}
	return a
}

// hold keeps a step's shards at work until release.
func (p *player) hold(namespace, step string) {
	s := p.script(namespace)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.held[step] = true
}

// release lets a step's shards finish.
func (p *player) release(ctx context.Context, namespace, step string) error {
	s := p.script(namespace)
	s.mu.Lock()
	delete(s.held, step)
	s.mu.Unlock()
	var list corev1.PodList
	if err := p.pods.List(ctx, &list, client.InNamespace(namespace)); err != nil {
		return err
	}
	for i := range list.Items {
		p.seen(&list.Items[i])
	}
	return nil
}

// play takes a shard as far as its pod allows.
func (p *player) play(pod *corev1.Pod) {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	a, s := p.actor(pod.UID), p.script(pod.Namespace)
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.done {
		return
	}
	if a.plan == nil {
		if a.plan = p.readPlan(ctx, pod); a.plan == nil {
			return
		}
	}
	index, err := strconv.ParseInt(pod.Annotations[batchv1.JobCompletionIndexAnnotation], 10, 32)
	if err != nil {
		return
	}
	sh := shardOf{plan: a.plan, index: int32(index), measuring: a.started}
	start := pod.Annotations[plan.AnnotationStartAt]
	if start != "" {
		sh.at, err = time.Parse(plan.TimeFormat, start)
		s.note(pod.UID, start)
	}
	switch {
	case err != nil:
		sh.end(report.Failed, report.ExitPlan)
	case pod.DeletionTimestamp != nil && *pod.DeletionGracePeriodSeconds == 0:
		a.done = p.killed(ctx, pod) == nil
		return
	case pod.DeletionTimestamp != nil || pod.Annotations[plan.AnnotationStop] != "":
		sh.end(report.Partial, report.ExitInterrupted)
	case a.plan.Gate && start == "":
		return
	case a.plan.Gate && time.Now().Before(sh.at):
		time.AfterFunc(time.Until(sh.at), func() { p.again(pod) })
		return
	default:
		if !a.started {
			a.started, sh.measuring = true, true
			s.begin(a.plan.Identity)
		}
		if s.holds(a.plan.Identity.Step) {
			return
		}
		if f := s.failure(a.plan.Identity.Step); f != nil {
			sh.end(report.Failed, report.ExitTarget)
			sh.report.Envelope.Failure = f
		} else {
			sh.end(report.Complete, report.ExitDone)
		}
	}
	if err := p.leave(ctx, pod, s, &sh.report); err != nil {
		fmt.Println("player:", pod.Namespace, pod.Name, err)
		time.AfterFunc(time.Second, func() { p.again(pod) })
		return
	}
	a.done = true
}

// again looks at a pod once more as it is now.
func (p *player) again(pod *corev1.Pod) {
	var now corev1.Pod
	if p.pods.Get(context.Background(), client.ObjectKeyFromObject(pod), &now) == nil && now.UID == pod.UID {
		p.seen(&now)
	}
}

// readPlan reads what the pod has mounted.
func (p *player) readPlan(ctx context.Context, pod *corev1.Pod) *plan.Plan {
	for _, v := range pod.Spec.Volumes {
		if v.Name != "plan" {
			continue
		}
		var cm corev1.ConfigMap
		var out plan.Plan
		if err := p.client.Get(ctx, types.NamespacedName{Namespace: pod.Namespace, Name: v.ConfigMap.Name}, &cm); err != nil {
			fmt.Println("player: a pod without a plan:", pod.Namespace, pod.Name, err)
			return nil
		}
		if err := json.Unmarshal([]byte(cm.Data["plan.json"]), &out); err != nil {
			fmt.Println("player:", pod.Namespace, pod.Name, err)
			return nil
		}
		return &out
	}
	return nil
}

// leave ends the container with a report.
func (p *player) leave(ctx context.Context, pod *corev1.Pod, s *script, r *report.Report) error {
	doc, err := report.Encode(r)
	if err != nil {
		return err
	}
	if err := p.exit(ctx, pod, r.Envelope.ExitCode, string(doc)); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reports = append(s.reports, *r)
	return nil
}

// killed ends the container without giving it time for a report.
func (p *player) killed(ctx context.Context, pod *corev1.Pod) error { return p.exit(ctx, pod, 137, "") }

// exit has KWOK end the container.
func (p *player) exit(ctx context.Context, pod *corev1.Pod, code int, message string) error {
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"uid": pod.UID, "annotations": map[string]string{
		annotationExitCode: strconv.Itoa(code), annotationMessage: message,
	}}})
	if err != nil {
		return err
	}
	return ignoreGone(p.client.Patch(ctx, pod.DeepCopy(), client.RawPatch(types.MergePatchType, patch)))
}

func (s *script) holds(step string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.held[step]
}

func (s *script) failure(step string) *report.Failure {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.failing[step]
}

// fail has the shards of a step fail.
func (p *player) fail(namespace, step string, f report.Failure) {
	s := p.script(namespace)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failing[step] = &f
}

func (s *script) begin(id report.Identity) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.started = append(s.started, id)
}

func (s *script) note(pod types.UID, at string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if old := s.starts[pod]; old == "" {
		s.starts[pod] = at
	} else if old != at {
		s.starts[pod] = old + " and then " + at
	}
}

// measuring counts the shards of a step's attempt that began to measure.
func (s *script) measuring(step string, repeat, attempt int32) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for _, id := range s.started {
		if id.Step == step && id.Repeat == repeat && id.Attempt == attempt {
			n++
		}
	}
	return n
}

// left are the reports of an attempt, by index.
func (s *script) left(step string, repeat, attempt int32) []report.Report {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []report.Report
	for _, r := range s.reports {
		if id := r.Envelope.Identity; id.Step == step && id.Repeat == repeat && id.Attempt == attempt {
			out = append(out, r)
		}
	}
	slices.SortFunc(out, func(a, b report.Report) int { return int(a.Envelope.Index - b.Envelope.Index) })
	return out
}

// shardOf makes a shard's report.
type shardOf struct {
	plan      *plan.Plan
	index     int32
	at        time.Time
	measuring bool
	report    report.Report
}

// execMicros is how long a shard says that it took: more than minDuration, and different for every shard and repeat.
func execMicros(index, repeat int32) int64 {
	return 6_000_000 + 100_000*int64(index) + 250_000*int64(repeat)
}

// end fills the report. A partial one has half of what was planned.
func (s *shardOf) end(outcome report.Outcome, exit int) {
	p := s.plan
	s.report.Envelope = report.Envelope{Version: report.Version, Identity: p.Identity, Index: s.index, Outcome: outcome, ExitCode: exit}
	if outcome != report.Complete {
		s.report.Envelope.Failure = &report.Failure{Reason: "Stopped", Message: "stopped by order or signal"}
	}
	switch {
	case p.Identity.Step == plan.StepPreflight && outcome == report.Complete:
		s.report.Body.Facts = map[string]string{"nameNode": "nn.example:8020"}
	case p.Identity.Step == plan.StepCleanup && p.NNThroughput != nil:
		s.report.Body.Facts = map[string]string{"calls.after.Create": "7"}
	case p.Identity.Step == plan.StepCompact && outcome == report.Complete:
		s.report.Body.Facts = slice(p)
	}
	switch {
	case !s.measuring || outcome == report.Failed:
	case p.Gate && p.DFSIO != nil:
		s.moveBytes(outcome)
	case p.NNThroughput != nil && slices.Contains(p.NNThroughput.Operations, p.Identity.Step):
		s.operate(outcome)
	case p.Gate && p.YCSB != nil:
		s.mix(outcome)
	}
}

// operate fills the report of a shard that did its part of an operation's calls. Without a start time it is the original
// tool that did it, which has neither latencies nor a clock to compare with.
func (s *shardOf) operate(outcome report.Outcome) {
	p, b := s.plan, &s.report.Body
	exec := execMicros(s.index, p.Identity.Repeat)
	b.Planned = p.NNThroughput.Files / int64(p.Shards)
	b.Operations = b.Planned
	if outcome == report.Partial {
		exec, b.Operations = exec/2, b.Operations/2
	}
	b.SetUp = 1_500_000 + int64(s.index)
	if !p.Gate {
		b.End = time.Now().UnixMicro()
		b.Start = b.End - exec
		b.Facts = map[string]string{"averageMillis": "2"}
		return
	}
	b.Prepared = s.at.Add(-2 * time.Second).UnixMicro()
	b.Start = s.at.UnixMicro() + int64(s.index)*1000
	b.End = b.Start + exec
	b.Clock = &report.Clock{OffsetMicros: 200 * int64(s.index), UncertaintyMicros: 500}
	b.Client = &report.ClientUse{CPUMicros: exec / 10, AllowanceMilli: 2000}
	b.Latency = report.NewHistogram(report.DefaultScale)
	b.Series = report.NewSeries(s.at.UnixMicro(), p.SeriesMicros)
	b.Series.Shift(b.Clock.OffsetMicros)
	for i := range b.Operations {
		b.Latency.Record((exec/b.Operations + i) * 1000)
		b.Series.Add(b.Start+exec*(i+1)/b.Operations, 1)
	}
}

// moveBytes fills the report of a shard that wrote or read its file.
func (s *shardOf) moveBytes(outcome report.Outcome) {
	p, b := s.plan, &s.report.Body
	exec, size := execMicros(s.index, p.Identity.Repeat), p.DFSIO.Size
	if outcome == report.Partial {
		exec, size = exec/2, size/2
	}
	b.Prepared = s.at.Add(-2 * time.Second).UnixMicro()
	b.Start = s.at.UnixMicro() + int64(s.index)*1000
	b.End = b.Start + exec
	b.Bytes, b.Planned = size, p.DFSIO.Size
	b.Operations = (size + p.DFSIO.BufferSize - 1) / p.DFSIO.BufferSize
	b.Clock = &report.Clock{OffsetMicros: 200 * int64(s.index), UncertaintyMicros: 500}
	b.Client = &report.ClientUse{CPUMicros: exec / 10, AllowanceMilli: 2000}
	b.CloseMicros = exec / 100
	b.Latency = report.NewHistogram(report.DefaultScale)
	b.Series = report.NewSeries(s.at.UnixMicro(), p.SeriesMicros)
	b.Series.Shift(b.Clock.OffsetMicros)
	for i := range b.Operations {
		b.Latency.Record((exec/b.Operations + 10*i) * 1000)
		b.Series.Add(b.Start+exec*(i+1)/b.Operations, min(p.DFSIO.BufferSize, size-i*p.DFSIO.BufferSize))
	}
}
