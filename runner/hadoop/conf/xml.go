package conf

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
)

// loader reads one file and what it includes into conf.
type loader struct {
	conf     *Conf
	files    map[string][]byte
	included int // files so far, which bounds the work that includes of includes can make
}

// document is one file being read. Its decoder knows no entities but XML's own, so no file can make it read or produce
// anything that does not stand in it.
type document struct {
	name    string
	decoder *xml.Decoder
	depth   int // of includes
}

func (d *document) errorf(format string, args ...any) error {
	line, _ := d.decoder.InputPos()
	return fmt.Errorf("%w: %s line %d: %w", ErrFile, d.name, line, fmt.Errorf(format, args...))
}

// next returns the next token, with errors that say where.
func (d *document) next() (xml.Token, error) {
	token, err := d.decoder.Token()
	if errors.Is(err, io.EOF) {
		return nil, io.EOF
	}
	if err != nil {
		// The decoder's own text holds the line as well.
		var syntax *xml.SyntaxError
		if errors.As(err, &syntax) {
			return nil, fmt.Errorf("%w: %s line %d: %s", ErrFile, d.name, syntax.Line, syntax.Msg)
		}
		return nil, d.errorf("%w", err)
	}
	return token, nil
}

func (l *loader) load(name string, depth int) error {
	content := l.files[name]
	if len(content) > MaxFileBytes {
		return tooLarge(name, int64(len(content)))
	}
	d := &document{name: name, decoder: xml.NewDecoder(bytes.NewReader(content)), depth: depth}
	root := false
	for {
		token, err := d.next()
		if errors.Is(err, io.EOF) {
			if !root {
				return d.errorf("no <configuration> element; Hadoop's files are XML: <configuration><property>...")
			}
			return nil
		}
		if err != nil {
			return err
		}
		start, ok := token.(xml.StartElement)
		if !ok {
			continue
		}
		if root || start.Name.Local != "configuration" {
			return d.errorf("<%s> where the one <configuration> element was expected", start.Name.Local)
		}
		root = true
		if err := l.children(d); err != nil {
			return err
		}
	}
}

// children reads what stands in <configuration> or in an include's <fallback>, up to the end of that element.
func (l *loader) children(d *document) error {
	for {
		token, err := d.next()
		if err != nil {
			return unexpectedEnd(d, err)
		}
		switch t := token.(type) {
		case xml.EndElement:
			return nil
		case xml.StartElement:
			switch t.Name.Local {
			case "property":
				err = l.property(d, t)
			case "include":
				err = l.include(d, t)
			case "configuration": // Hadoop allows it to be nested
				err = l.children(d)
			default:
				err = d.errorf("<%s> in <configuration>; only <property> and <include> have a meaning there", t.Name.Local)
			}
			if err != nil {
				return err
			}
		}
	}
}

func unexpectedEnd(d *document, err error) error {
	if errors.Is(err, io.EOF) {
		return d.errorf("the file ends within an element")
	}
	return err
}

// property reads one property, whose parts are elements or attributes.
func (l *loader) property(d *document, start xml.StartElement) error {
	line, _ := d.decoder.InputPos()
	name, hasValue := "", false
	p := property{source: fmt.Sprintf("%s:%d", d.name, line)}
	take := func(key, text string) {
		switch key {
		case "name":
			name = strings.TrimSpace(text)
		case "value":
			p.value, hasValue = text, true
		case "final":
			p.final = strings.EqualFold(strings.TrimSpace(text), "true")
		}
	}
	for _, attr := range start.Attr {
		take(attr.Name.Local, attr.Value)
	}
	for {
		token, err := d.next()
		if err != nil {
			return unexpectedEnd(d, err)
		}
		switch t := token.(type) {
		case xml.StartElement:
			text, err := d.text(t)
			if err != nil {
				return err
			}
			take(t.Name.Local, text)
		case xml.EndElement:
			if name == "" {
				return d.errorf("a <property> without a <name>")
			}
			// Hadoop passes a property without a value over: the default stays.
			if hasValue {
				l.conf.set(name, p)
			}
			return nil
		}
	}
}

// text reads the character data of an element up to its end. Elements within it are passed over: descriptions hold
// markup at times.
func (d *document) text(start xml.StartElement) (string, error) {
	var b strings.Builder
	for depth := 0; ; {
		token, err := d.next()
		if err != nil {
			return "", unexpectedEnd(d, err)
		}
		switch t := token.(type) {
		case xml.CharData:
			if depth == 0 {
				b.Write(t)
			}
		case xml.StartElement:
			if start.Name.Local == "name" || start.Name.Local == "value" {
				return "", d.errorf("<%s> within <%s>; write < as &lt;", t.Name.Local, start.Name.Local)
			}
			depth++
		case xml.EndElement:
			if depth == 0 {
				return b.String(), nil
			}
			depth--
		}
	}
}

// include reads the named file in place of the element, or the element's fallback if there is no such file.
func (l *loader) include(d *document, start xml.StartElement) error {
	href, parse := "", "xml"
	for _, attr := range start.Attr {
		switch attr.Name.Local {
		case "href":
			href = strings.TrimSpace(attr.Value)
		case "parse":
			parse = attr.Value
		}
	}
	if parse != "xml" {
		return d.errorf("include with parse=%q; only xml is supported", parse)
	}
	name := strings.TrimPrefix(href, "./")
	if name == "" || strings.ContainsAny(name, "/\\:") || strings.HasPrefix(name, "..") {
		return d.errorf("include of %q; only a file beside this one can be included, by its name", href)
	}
	if d.depth+1 > MaxIncludeDepth {
		return d.errorf("include of %q is the %dth within one another; does a file include itself?", href, d.depth+1)
	}
	if l.included++; l.included > MaxFiles {
		return d.errorf("include of %q is one of more than %d in all", href, MaxFiles)
	}
	_, found := l.files[name]
	if found {
		if err := l.load(name, d.depth+1); err != nil {
			return fmt.Errorf("included by %s: %w", d.name, err)
		}
	}
	return l.fallback(d, href, found)
}

// fallback reads an include element to its end. The fallback counts only if the included file was not found.
func (l *loader) fallback(d *document, href string, found bool) error {
	had := false
	for {
		token, err := d.next()
		if err != nil {
			return unexpectedEnd(d, err)
		}
		switch t := token.(type) {
		case xml.StartElement:
			if t.Name.Local != "fallback" {
				return d.errorf("<%s> in <include>; only <fallback> has a meaning there", t.Name.Local)
			}
			had = true
			if found {
				err = d.decoder.Skip()
			} else {
				err = l.children(d)
			}
			if err != nil {
				return unexpectedEnd(d, err)
			}
		case xml.EndElement:
			if !found && !had {
				return d.errorf("included file %q does not exist and there is no <fallback>", href)
			}
			return nil
		}
	}
}
