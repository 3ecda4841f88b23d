package dfsio_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"syscall"
	"testing"

	"github.com/colinmarc/hdfs/v2"

	"github.com/hadoop-bench/operator/runner/dfsio"
	"github.com/hadoop-bench/operator/runner/plan"
	"github.com/hadoop-bench/operator/runner/report"
	"github.com/hadoop-bench/operator/runner/steps"
)

func TestClassAndText(t *testing.T) {
	remote := remoteError{"org.apache.hadoop.hdfs.protocol.DSQuotaExceededException", "org.apache...DSQuotaExceededException: The DiskSpace quota of /x is exceeded\n\tat org.apache"}
	tests := map[string]struct {
		err   error
		class string
		text  string
	}{
		"exception":            {&os.PathError{Op: "create", Path: "/x", Err: remote}, "DSQuotaExceededException", "getFileInfo: org.apache...DSQuotaExceededException: The DiskSpace quota of /x is exceeded"},
		"exception, no text":   {remoteError{exception: "a.B"}, "B", "call failed (a.B)"},
		"exception, no class":  {remoteError{message: "x"}, "IOError", "getFileInfo: x"},
		"not found":            {fmt.Errorf("x: %w", fs.ErrNotExist), "FileNotFoundException", "x: file does not exist"},
		"exists":               {fs.ErrExist, "FileAlreadyExistsException", "file already exists"},
		"permission":           {fs.ErrPermission, "AccessControlException", "permission denied"},
		"not empty":            {dfsio.ErrNotEmpty, "PathIsNotEmptyDirectoryException", "directory is not empty"},
		"timeout":              {os.ErrDeadlineExceeded, "Timeout", "i/o timeout"},
		"deadline":             {context.DeadlineExceeded, "Timeout", "context deadline exceeded"},
		"timeout as a text":    {errors.New("no available namenodes: read tcp: i/o timeout"), "Timeout", "no available namenodes: read tcp: i/o timeout"},
		"refused":              {&net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}, "ConnectionRefused", "dial: connection refused"},
		"reset":                {syscall.ECONNRESET, "ConnectionLost", "connection reset by peer"},
		"pipe":                 {syscall.EPIPE, "ConnectionLost", "broken pipe"},
		"end":                  {io.EOF, "ConnectionLost", "EOF"},
		"end in a message":     {io.ErrUnexpectedEOF, "ConnectionLost", "unexpected EOF"},
		"closed":               {net.ErrClosed, "ConnectionLost", "use of closed network connection"},
		"replicating":          {&os.PathError{Op: "create", Path: "/x", Err: hdfs.ErrReplicating}, "NotReplicatedYetException", "create /x: replication in progress"},
		"standby as a text":    {errors.New("no available namenodes: x (org.apache.hadoop.ipc.StandbyException)"), "StandbyException", "no available namenodes: x (org.apache.hadoop.ipc.StandbyException)"},
		"no NameNode":          {errors.New("no available namenodes: "), "NoNameNode", "no available namenodes: "},
		"pipeline":             {errors.New("Ack error from datanode: ERROR"), "PipelineError", "Ack error from datanode: ERROR"},
		"pipeline not made":    {errors.New("write failed: ERROR (x)"), "PipelineError", "write failed: ERROR (x)"},
		"DataNode refuses":     {errors.New("read failed: ERROR (x)"), "DataNodeRefusal", "read failed: ERROR (x)"},
		"bad sum":              {errors.New("invalid checksum from the datanode"), "ChecksumException", "invalid checksum from the datanode"},
		"anything else":        {errors.New("odd"), "IOError", "odd"},
		"unknown in a wrapper": {fmt.Errorf("write: %w", errors.New("odd")), "IOError", "write: odd"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := dfsio.Class(tt.err); got != tt.class {
				t.Errorf("Class = %q, want %q", got, tt.class)
			}
			if got := dfsio.Text(tt.err); got != tt.text {
				t.Errorf("Text = %q, want %q", got, tt.text)
			}
		})
	}
}

// TestRefusals checks the reasons of what a NameNode answers, by way of a step's first call.
func TestRefusals(t *testing.T) {
	tests := map[string]struct {
		err    error
		exit   int
		reason string
		text   string
	}{
		"safe mode":                  {remoteError{"org.apache.hadoop.hdfs.server.namenode.SafeModeException", "SafeModeException: Cannot create file. Name node is in safe mode."}, report.ExitTarget, steps.ReasonSafeMode, "Name node is in safe mode"},
		"safe mode, wrapped":         {remoteError{"org.apache.hadoop.ipc.RetriableException", "org.apache.hadoop.hdfs.server.namenode.SafeModeException: Cannot create"}, report.ExitTarget, steps.ReasonSafeMode, "Cannot create"},
		"permission":                 {fs.ErrPermission, report.ExitTarget, steps.ReasonPermissionDenied, `as user "tester"`},
		"space quota":                {remoteError{"org.apache.hadoop.hdfs.protocol.DSQuotaExceededException", "quota"}, report.ExitTarget, steps.ReasonQuotaExceeded, "quota"},
		"name quota":                 {remoteError{"org.apache.hadoop.hdfs.protocol.NSQuotaExceededException", "quota"}, report.ExitTarget, steps.ReasonQuotaExceeded, "quota"},
		"standby":                    {errors.New("no available namenodes: (org.apache.hadoop.ipc.StandbyException)"), report.ExitTarget, steps.ReasonNoActiveNameNode, "none of nn:8020 is active"},
		"no DataNodes":               {remoteError{"java.io.IOException", "java.io.IOException: File /x could only be written to 0 of the 1 minReplication nodes."}, report.ExitTarget, steps.ReasonNoDataNodes, "could only be written to 0"},
		"gone":                       {errors.New("no available namenodes: EOF"), report.ExitTarget, steps.ReasonNameNodeUnreachable, "no available"},
		"refused":                    {syscall.ECONNREFUSED, report.ExitTarget, steps.ReasonNameNodeUnreachable, "refused"},
		"anything else":              {errors.New("odd"), report.ExitBenchmark, steps.ReasonIOError, "ask hdfs://nn:8020 for its defaults: odd"},
		"already told what it means": {&steps.Error{Exit: 3, Failure: report.Failure{Reason: "Own", Message: "m", Remedy: "r"}}, 3, "Own", "m"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, newPlan(plan.TestWrite)).claim()
			b.fs.fail = failOn("defaults", tt.err)
			err := b.run(t)
			wantFailure(t, err, tt.exit, tt.reason, tt.text)
			if !errors.Is(err, tt.err) {
				t.Errorf("error %v does not wrap its cause", err)
			}
		})
	}
}
