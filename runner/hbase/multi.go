package hbase

import (
	"context"
	"fmt"
)

// An Action is one of several that are sent together: a Get or a Mutation, and not both.
type Action struct {
	Get      *Get
	Mutation *Mutation
}

// A Result is the outcome of an Action.
type Result struct {
	Row Row   // of a Get; valid as long as the caller likes
	Err error // nil if it was carried out
}

// Multi carries out actions, those of each server in one request, and returns their results by the same index, valid until
// the session's next call. The actions have no order among one another, except that the mutations of one row are carried
// out one after the other. CallTime.Operation bounds all of them together. What Mutate says about repetition holds here too.
func (s *Session) Multi(ctx context.Context, actions []Action) ([]Result, error) {
	b := &s.batch
	b.reset()
	for i, a := range actions {
		if err := s.addAction(b, a); err != nil {
			return nil, fmt.Errorf("action %d of %d: %w", i, len(actions), err)
		}
	}
	s.run(ctx, b)
	results := make([]Result, len(b.items))
	for i := range b.items {
		results[i] = Result{Row: b.items[i].found, Err: b.items[i].err}
	}
	return results, nil
}

func (s *Session) addAction(b *batch, a Action) error {
	switch {
	case (a.Get == nil) == (a.Mutation == nil):
		return &RowError{Reason: "it must be either a Get or a Mutation"}
	case a.Get != nil:
		if err := checkRow(a.Get.Row); err != nil {
			return err
		}
		b.addGet(s.tableOf(a.Get.Table), a.Get)
		return nil
	}
	if err := a.Mutation.check(s.client.o.MaxCell); err != nil {
		return err
	}
	b.addMutation(s.tableOf(a.Mutation.Table), a.Mutation)
	return nil
}
