package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strconv"
	"strings"

	"github.com/hadoop-bench/operator/runner/ycsb"
	"github.com/hadoop-bench/operator/runner/ycsb/workloads"
)

// ErrHelp says that help was asked for.
var ErrHelp = errors.New("help was asked for")

// A Command is a command line, taken apart.
type Command struct {
	Properties *ycsb.Properties
	Binding    string   // one of the Binding constants
	ClassPath  []string // of -cp
	// Notes are sentences about what was taken in another way than it was written.
	Notes []string
}

// parser reads arguments one by one.
type parser struct {
	rest    []string
	command *Command
	files   *ycsb.Properties // of -P
	options *ycsb.Properties // of all others, which win
}

// Parse reads the arguments after "runner ycsb". Errors name the argument and the remedy; ErrHelp asks for the usage.
func Parse(args []string) (*Command, error) {
	p := &parser{rest: args, command: new(Command), files: ycsb.NewProperties(), options: ycsb.NewProperties()}
	if len(args) == 0 {
		return nil, errors.New("no arguments: give load or run, and a binding")
	}
	if err := p.head(); err != nil {
		return nil, err
	}
	phase, named := p.options.Get("dotransactions")
	for len(p.rest) > 0 {
		if err := p.option(); err != nil {
			return nil, err
		}
	}
	if named { // bin/ycsb says it after all options
		p.options.Set("dotransactions", phase)
	}
	p.files.Merge(p.options)
	p.command.Properties = p.files
	if p.command.Binding == "" {
		class, ok := p.files.Get("db")
		if !ok {
			class = "site.ycsb.BasicDB" // YCSB's default
		}
		var err error
		if p.command.Binding, err = bindingOfClass(strings.TrimSpace(class)); err != nil {
			return nil, err
		}
	}
	return p.command, nil
}

// head reads a command and a binding, as bin/ycsb takes them. The class's command line has options only.
func (p *parser) head() error {
	switch p.rest[0] {
	case "load", "run":
		p.options.Set("dotransactions", strconv.FormatBool(p.rest[0] == "run"))
	case "shell":
		return errors.New("shell: not supported; use HBase's own, hbase shell")
	case "-h", "-help", "--help", "help":
		return ErrHelp
	default:
		if strings.HasPrefix(p.rest[0], "-") {
			return nil
		}
		return fmt.Errorf("%q is no command: give load or run", p.rest[0])
	}
	command := p.rest[0]
	if p.rest = p.rest[1:]; len(p.rest) == 0 || strings.HasPrefix(p.rest[0], "-") {
		return fmt.Errorf("%s: name the binding after it, %s", command, bindingNames)
	}
	var err error
	p.command.Binding, err = bindingOfName(p.rest[0])
	p.rest = p.rest[1:]
	return err
}

// option reads the next option and its value.
func (p *parser) option() error {
	name := p.rest[0]
	p.rest = p.rest[1:]
	switch name {
	case "-h", "-help", "--help":
		return ErrHelp
	case "-s":
		p.options.Set("status", "true")
		return nil
	case "-load", "-t":
		p.options.Set("dotransactions", strconv.FormatBool(name == "-t"))
		return nil
	}
	set, ok := map[string]func(string) error{
		"-threads": p.number("threadcount"), "-target": p.number("target"),
		"-l": p.text("label"), "-db": p.database,
		"-P": p.file, "-p": p.options.Assign,
		"-cp": p.classPath, "-jvm-args": p.jvm,
	}[name]
	if !ok {
		if value, found := strings.CutPrefix(name, "-jvm-args="); found {
			return p.jvm(value)
		}
		if !strings.HasPrefix(name, "-") {
			return fmt.Errorf("%q: an option was expected, which begins with a dash", name)
		}
		return fmt.Errorf("option %s is not known", name)
	}
	if len(p.rest) == 0 {
		return fmt.Errorf("option %s: the value is missing", name)
	}
	value := p.rest[0]
	p.rest = p.rest[1:]
	return set(value)
}

func (p *parser) text(property string) func(string) error {
	return func(value string) error {
		p.options.Set(property, value)
		return nil
	}
}

func (p *parser) number(property string) func(string) error {
	return func(value string) error {
		if _, err := strconv.ParseInt(value, 10, 64); err != nil {
			return fmt.Errorf("option for %s: %q is not a whole number", property, value)
		}
		p.options.Set(property, value)
		return nil
	}
}

func (p *parser) database(class string) error {
	if p.command.Binding != "" {
		return fmt.Errorf("option -db %s: the binding is named already", class)
	}
	p.options.Set("db", class)
	return nil
}

func (p *parser) classPath(value string) error {
	for element := range strings.SplitSeq(value, string(os.PathListSeparator)) {
		if info, err := os.Stat(element); element == "" || err != nil || !info.IsDir() {
			p.command.Notes = append(p.command.Notes, fmt.Sprintf("-cp: %q is no directory, and of no use here", element))
			continue
		}
		p.command.ClassPath = append(p.command.ClassPath, element)
	}
	return nil
}

func (p *parser) jvm(string) error {
	p.command.Notes = append(p.command.Notes, "-jvm-args has no effect: there is no Java virtual machine")
	return nil
}

// file reads a file of properties. The workloads that come with the program stand in for files that are not there.
func (p *parser) file(name string) error {
	properties, err := ycsb.ReadPropertiesFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		embedded, embeddedErr := builtIn(name)
		if embeddedErr == nil {
			properties, err = embedded, nil
			p.command.Notes = append(p.command.Notes, fmt.Sprintf("-P %s: there is no such file; the workload of that name that comes with the program is taken", name))
		}
	}
	if err != nil {
		return fmt.Errorf("option -P: %w", err)
	}
	p.files.Merge(properties)
	return nil
}

// builtIn is a workload that comes with the program, by its name alone or as a file of a directory named workloads.
func builtIn(name string) (*ycsb.Properties, error) {
	dir, base := path.Split(strings.ReplaceAll(name, `\`, "/"))
	if dir != "" && path.Base(dir) != "workloads" {
		return nil, fs.ErrNotExist
	}
	file, err := workloads.Files.Open(base)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return ycsb.ReadProperties(file)
}
