package shard

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/hadoop-bench/operator/runner/plan"
)

// maxPlan bounds a plan's text; a ConfigMap cannot hold more.
const maxPlan = 1 << 20

// ReadPlan reads a plan's file.
func ReadPlan(path string) (*plan.Plan, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read plan: %w", err)
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, maxPlan+1))
	if err != nil {
		return nil, fmt.Errorf("read plan: %w", err)
	}
	return ParsePlan(text)
}

// ParsePlan reads a plan's text. A field it does not know is an error: it would be ignored otherwise.
func ParsePlan(text []byte) (*plan.Plan, error) {
	if len(text) > maxPlan {
		return nil, fmt.Errorf("read plan: more than %d bytes", maxPlan)
	}
	// The version first: in another version other fields may be right.
	var head struct {
		Version int `json:"version"`
	}
	if err := json.Unmarshal(text, &head); err != nil {
		return nil, fmt.Errorf("read plan: %w", err)
	}
	if head.Version != plan.Version {
		return nil, fmt.Errorf("read plan: version %d is not supported, only %d is", head.Version, plan.Version)
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	p := new(plan.Plan)
	if err := decoder.Decode(p); err != nil {
		return nil, fmt.Errorf("read plan: %w", err)
	}
	if p.GateTimeoutMillis < 0 || p.TimeoutMillis < 0 || p.SeriesMicros < 0 {
		return nil, errors.New("read plan: a time is negative")
	}
	if p.GateTimeoutMillis > maxMillis || p.TimeoutMillis > maxMillis {
		return nil, fmt.Errorf("read plan: a timeout is beyond %d ms", int64(maxMillis))
	}
	return p, nil
}

// maxMillis is ten years. Beyond 292 years a timeout would not fit a time.Duration.
const maxMillis = 10 * 365 * 24 * 60 * 60 * 1000
