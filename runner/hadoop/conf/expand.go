package conf

import (
	"fmt"
	"strings"
)

// expand replaces variables in a value, innermost first, until none is left that is known. ${name} is another property;
// ${env.NAME} an environment variable, with ${env.NAME:-default} standing in if it is not set or empty and
// ${env.NAME-default} if it is not set; ${env:NAME}, which Stackable's files use, means the same. A variable that is not
// known stays as it is written, as in Hadoop.
func (c *Conf) expand(name, value string) (string, error) {
	original := value
	for range MaxSubstitution {
		start, end := variable(value, c.known)
		if start < 0 {
			return value, nil
		}
		reference := value[start : end+1]
		text, _ := c.lookup(reference[len("${") : len(reference)-1])
		if strings.Contains(text, reference) {
			return "", c.invalid(name, fmt.Sprintf("%s refers to itself", reference))
		}
		value = value[:start] + text + value[end+1:]
		if len(value) > maxValueBytes {
			return "", c.invalid(name, fmt.Sprintf("grows beyond %d bytes by substitution", maxValueBytes))
		}
	}
	if start, _ := variable(value, c.known); start < 0 {
		return value, nil
	}
	return "", c.invalid(name, fmt.Sprintf("%q needs more than %d substitutions; do variables refer to one another?", original, MaxSubstitution))
}

// variable finds the first innermost ${...} that is known: from the dollar sign to the closing brace, or -1, -1.
func variable(value string, known func(string) bool) (start, end int) {
	for from := 0; ; {
		i := strings.Index(value[from:], "${")
		if i < 0 {
			return -1, -1
		}
		start = from + i
		length := strings.IndexByte(value[start:], '}')
		if length < 0 {
			return -1, -1
		}
		end = start + length
		// The last ${ before the brace is the innermost.
		start += strings.LastIndex(value[start:end], "${")
		if key := value[start+2 : end]; key != "" && !strings.ContainsAny(key, "$ \t\r\n") && known(key) {
			return start, end
		}
		from = end + 1
	}
}

func isProperty(key string) bool {
	return !strings.HasPrefix(key, "env.") && !strings.HasPrefix(key, "env:")
}

func (c *Conf) known(key string) bool {
	_, ok := c.lookup(key)
	return ok
}

// lookup resolves what stands between the braces of a variable.
func (c *Conf) lookup(key string) (string, bool) {
	if isProperty(key) {
		p, ok := c.properties[deprecated(key)]
		return p.value, ok
	}
	name := key[len("env."):]
	fallback, hasFallback, emptyToo := "", false, false
	if i := strings.IndexByte(name, '-'); i >= 0 {
		name, fallback, hasFallback = name[:i], name[i+1:], true
		name, emptyToo = strings.CutSuffix(name, ":")
	}
	value, ok := c.lookupEnv(name)
	if ok && (value != "" || !emptyToo) {
		return value, true
	}
	return fallback, hasFallback
}
