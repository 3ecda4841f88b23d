package conf

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// A ValueError says that a property has a value that cannot be used.
type ValueError struct {
	Name   string // of the property
	Value  string // as it stands in the file
	Source string // file:line, or "override"
	Reason string // what was expected
}

func (e *ValueError) Error() string {
	return fmt.Sprintf("property %s (%s): %q: %s", e.Name, e.Source, e.Value, e.Reason)
}

func (c *Conf) invalid(name, reason string) error {
	p := c.properties[deprecated(name)]
	return &ValueError{Name: name, Value: p.value, Source: p.source, Reason: reason}
}

// String returns a property's value after substitution, without space around it; def if it is not set or empty.
func (c *Conf) String(name, def string) (string, error) {
	p, ok := c.properties[deprecated(name)]
	if !ok {
		return def, nil
	}
	value, err := c.expand(name, p.value)
	if err != nil {
		return "", err
	}
	if value = strings.TrimSpace(value); value == "" {
		return def, nil
	}
	return value, nil
}

// List returns a property's value split at commas, without empty parts; nil if it is not set.
func (c *Conf) List(name string) ([]string, error) {
	value, err := c.String(name, "")
	if err != nil {
		return nil, err
	}
	var list []string
	for part := range strings.SplitSeq(value, ",") {
		if part = strings.TrimSpace(part); part != "" {
			list = append(list, part)
		}
	}
	return list, nil
}

// Int returns an integer, decimal or hexadecimal with 0x; def if it is not set.
func (c *Conf) Int(name string, def int64) (int64, error) {
	value, err := c.String(name, "")
	if err != nil || value == "" {
		return def, err
	}
	digits, base := value, 10
	if hex, ok := strings.CutPrefix(strings.ToLower(value), "0x"); ok {
		digits, base = hex, 16
	}
	n, err := strconv.ParseInt(digits, base, 64)
	if err != nil {
		return 0, c.invalid(name, "not an integer of 64 bits")
	}
	return n, nil
}

// Size returns a number of bytes with one of the suffixes k, m, g, t, p, e (powers of 1024, any case); def if it is not
// set.
func (c *Conf) Size(name string, def int64) (int64, error) {
	value, err := c.String(name, "")
	if err != nil || value == "" {
		return def, err
	}
	digits, shift := value, 0
	if i := strings.IndexByte("kmgtpe", value[len(value)-1]|0x20); i >= 0 {
		digits, shift = strings.TrimSpace(value[:len(value)-1]), 10*(i+1)
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil {
		return 0, c.invalid(name, "not a size; write bytes, or a number with k, m, g, t, p or e")
	}
	if n > math.MaxInt64>>shift || n < math.MinInt64>>shift {
		return 0, c.invalid(name, "a size beyond 64 bits")
	}
	return n << shift, nil
}

// Bool returns true or false, in any case; def if it is not set.
func (c *Conf) Bool(name string, def bool) (bool, error) {
	value, err := c.String(name, "")
	if err != nil || value == "" {
		return def, err
	}
	switch strings.ToLower(value) {
	case "true":
		return true, nil
	case "false":
		return false, nil
	}
	return false, c.invalid(name, "neither true nor false")
}

// Duration returns a time with one of the suffixes ns, us, ms, s, m, h, d; a plain number counts in unit. def if it is
// not set.
func (c *Conf) Duration(name string, unit, def time.Duration) (time.Duration, error) {
	value, err := c.String(name, "")
	if err != nil || value == "" {
		return def, err
	}
	digits := strings.ToLower(value)
	suffixes := []struct {
		text string
		unit time.Duration
	}{ // the longer ones first: ms ends in s
		{"ns", time.Nanosecond},
		{"us", time.Microsecond},
		{"ms", time.Millisecond},
		{"s", time.Second},
		{"m", time.Minute},
		{"h", time.Hour},
		{"d", 24 * time.Hour},
	}
	for _, s := range suffixes {
		if rest, ok := strings.CutSuffix(digits, s.text); ok {
			digits, unit = strings.TrimSpace(rest), s.unit
			break
		}
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil {
		return 0, c.invalid(name, "not a time; write a number with ns, us, ms, s, m, h or d")
	}
	if n > math.MaxInt64/int64(unit) || n < math.MinInt64/int64(unit) {
		return 0, c.invalid(name, "a time of more than 292 years")
	}
	return time.Duration(n) * unit, nil
}
