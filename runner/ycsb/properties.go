package ycsb

import (
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
)

// maxPropertiesFile bounds a properties file's bytes.
const maxPropertiesFile = 16 << 20

// Properties are names and values, as of YCSB's files (-P) and its command line (-p). NewProperties makes them.
type Properties struct{ values map[string]string }

// NewProperties returns properties without any.
func NewProperties() *Properties { return &Properties{values: map[string]string{}} }

// Set sets one property; a later one replaces an earlier one.
func (p *Properties) Set(name, value string) { p.values[name] = value }

// Get returns a property, and whether it is set.
func (p *Properties) Get(name string) (string, bool) {
	value, ok := p.values[name]
	return value, ok
}

// Names returns the names of all that are set, sorted.
func (p *Properties) Names() []string { return slices.Sorted(maps.Keys(p.values)) }

// Merge sets all properties of another. Files are merged in the order of the command line, and what -p says after all
// files, wherever it stands.
func (p *Properties) Merge(other *Properties) { maps.Copy(p.values, other.values) }

// Assign sets a property from the text of -p, name=value.
func (p *Properties) Assign(text string) error {
	name, value, ok := strings.Cut(text, "=")
	if !ok || name == "" {
		return fmt.Errorf("-p %s: write it as name=value", text)
	}
	p.Set(name, value)
	return nil
}

// ReadPropertiesFile reads the file of -P.
func ReadPropertiesFile(path string) (*Properties, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("open a properties file: %w", err)
	}
	defer file.Close()
	p, err := ReadProperties(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return p, nil
}

// ReadProperties reads Java's .properties format: bytes are Latin-1, names end at "=", ":" or white space, lines that end
// in a backslash go on in the next, and "\" begins an escape. A later line replaces an earlier one of the same name.
func ReadProperties(r io.Reader) (*Properties, error) {
	text, err := io.ReadAll(io.LimitReader(r, maxPropertiesFile+1))
	if err != nil {
		return nil, fmt.Errorf("read properties: %w", err)
	}
	if len(text) > maxPropertiesFile {
		return nil, fmt.Errorf("read properties: the file has more than %d bytes", maxPropertiesFile)
	}
	p := NewProperties()
	lines := propertyLines{rest: text}
	for lines.next() {
		if err := p.setLine(lines.line); err != nil {
			return nil, fmt.Errorf("line %d: %w", lines.number, err)
		}
	}
	return p, nil
}

// setLine sets the property of a logical line.
func (p *Properties) setLine(line []byte) error {
	left, right := splitProperty(line)
	name, err := unescape(left)
	if err != nil {
		return err
	}
	value, err := unescape(right)
	if err != nil {
		return err
	}
	p.Set(name, value)
	return nil
}
