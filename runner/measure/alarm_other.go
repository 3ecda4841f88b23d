//go:build !linux

package measure

import "time"

// sleep would wait precisely; here there is no such timer.
func (s *system) sleep(time.Duration) bool { return false }
