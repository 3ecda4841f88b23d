package cli_test

import (
	"errors"

	"github.com/hadoop-bench/operator/runner/measure"
	"github.com/hadoop-bench/operator/runner/report"
	"github.com/hadoop-bench/operator/runner/steps"
)

// judge is what the runner's does with a command's errors.
func judge(err error) (report.Outcome, int, *report.Failure) {
	own, stopped := new(steps.Error), new(measure.Stopped)
	switch {
	case err == nil:
		return report.Complete, report.ExitDone, nil
	case errors.As(err, &stopped):
		return report.Partial, report.ExitInterrupted, &report.Failure{Reason: "Stopped", Message: stopped.Error()}
	case errors.As(err, &own):
		return report.Failed, own.Exit, &own.Failure
	}
	return report.Failed, report.ExitBenchmark, &report.Failure{Reason: "Internal", Message: err.Error()}
}
