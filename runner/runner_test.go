package runner

import (
	"strings"
	"testing"
)

func TestVersion(t *testing.T) {
	if Version() == "" {
		t.Error("Version() is empty, want a word in every build")
	}
	if !strings.HasPrefix(GoVersion(), "go") && !strings.HasPrefix(GoVersion(), "devel") {
		t.Errorf("GoVersion() = %q, want Go's own version word", GoVersion())
	}
}
