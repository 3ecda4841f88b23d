package ycsb

import (
	"bytes"
	"fmt"
	"strconv"
	"unicode/utf16"
)

// propertyLines takes logical lines from a text: without comments and blank lines, joined where they go on, with their
// escapes and without the white space at their beginning.
type propertyLines struct {
	rest   []byte
	read   int    // natural lines
	line   []byte // the logical line
	number int    // of its first natural line, from 1
}

// next takes a line, or says that there is none.
func (l *propertyLines) next() bool {
	for len(l.rest) > 0 {
		l.line = l.line[:0]
		l.number = l.read + 1
		goesOn := true
		for goesOn && len(l.rest) > 0 {
			natural := bytes.TrimLeft(l.natural(), " \t\f")
			if len(l.line) == 0 && len(natural) > 0 && (natural[0] == '#' || natural[0] == '!') {
				break
			}
			goesOn = endsInEscape(natural)
			if goesOn {
				natural = natural[:len(natural)-1]
			}
			l.line = append(l.line, natural...)
		}
		if len(l.line) > 0 {
			return true
		}
	}
	return false
}

// natural takes what is before the next end of a line: "\n", "\r" or "\r\n".
func (l *propertyLines) natural() []byte {
	l.read++
	end := bytes.IndexAny(l.rest, "\r\n")
	if end < 0 {
		line := l.rest
		l.rest = nil
		return line
	}
	line, after := l.rest[:end], end+1
	if l.rest[end] == '\r' && after < len(l.rest) && l.rest[after] == '\n' {
		after++
	}
	l.rest = l.rest[after:]
	return line
}

// endsInEscape says that an odd number of backslashes ends the line.
func endsInEscape(line []byte) bool {
	n := 0
	for n < len(line) && line[len(line)-1-n] == '\\' {
		n++
	}
	return n%2 == 1
}

func isPropertySpace(c byte) bool { return c == ' ' || c == '\t' || c == '\f' }

// splitProperty splits a logical line at the first separator that is not escaped.
func splitProperty(line []byte) (name, value []byte) {
	end := 0
	for end < len(line) && line[end] != '=' && line[end] != ':' && !isPropertySpace(line[end]) {
		if line[end] == '\\' {
			end++
		}
		end++
	}
	end = min(end, len(line))
	name, value = line[:end], bytes.TrimLeft(line[end:], " \t\f")
	if len(value) > 0 && (value[0] == '=' || value[0] == ':') {
		value = bytes.TrimLeft(value[1:], " \t\f")
	}
	return name, value
}

// unescape returns the characters of Latin-1 bytes with escapes.
func unescape(text []byte) (string, error) {
	units := make([]uint16, 0, len(text))
	for i := 0; i < len(text); i++ {
		c := text[i]
		if c != '\\' {
			units = append(units, uint16(c))
			continue
		}
		if i++; i == len(text) {
			break
		}
		switch c = text[i]; c {
		case 't':
			c = '\t'
		case 'n':
			c = '\n'
		case 'r':
			c = '\r'
		case 'f':
			c = '\f'
		case 'u':
			unit, err := unicodeEscape(text[i+1:])
			if err != nil {
				return "", err
			}
			units = append(units, unit)
			i += 4
			continue
		}
		units = append(units, uint16(c))
	}
	return string(utf16.Decode(units)), nil
}

// unicodeEscape returns the UTF-16 unit of the four hexadecimal digits after \u.
func unicodeEscape(after []byte) (uint16, error) {
	digits := after[:min(4, len(after))]
	unit, err := strconv.ParseUint(string(digits), 16, 16)
	if err != nil || len(digits) < 4 {
		return 0, fmt.Errorf(`\u%s: an escape \u has four hexadecimal digits; write \\ for a backslash`, digits)
	}
	return uint16(unit), nil
}
