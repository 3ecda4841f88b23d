package cli

import (
	"errors"
	"fmt"
	"strings"
)

// Generic are Hadoop's generic options.
type Generic struct {
	Conf       []string          // -conf: configuration files, later ones over earlier ones
	Properties map[string]string // -D
	FS         string            // -fs: URI of the file system; empty if not given
	Args       []string          // all of them as they were given
}

// takes tells what a generic option is: how one that is refused reads on, and whether there is such an option.
func takes(name string) (remedy string, known bool) {
	switch name {
	case "conf", "D", "fs":
		return "", true
	case "jt":
		return "no job is submitted here; leave it out", true
	case "files":
		return "before -op this is Hadoop's generic option for files to copy to a job, which has no use here; the number of files stands after -op", true
	case "libjars", "archives":
		return "no job is submitted here that they could be copied to; leave it out", true
	case "tokenCacheFile":
		return "delegation tokens are not supported; log in by -keytab and -principal, or by kinit", true
	}
	return "", false
}

// parseGeneric reads generic options as Hadoop does and returns what follows them. An option may have one dash or two,
// and its value may follow in the next argument or behind an equals sign.
func parseGeneric(args []string) (g Generic, rest []string, err error) {
	g.Properties = map[string]string{}
	for i := 0; i < len(args); {
		name, value, used := splitGeneric(args[i:])
		if used == 0 {
			return g, args[i:], nil
		}
		if used > len(args)-i {
			return g, nil, fmt.Errorf("-%s: its value is missing", name)
		}
		if remedy, _ := takes(name); remedy != "" {
			return g, nil, fmt.Errorf("-%s: %s", name, remedy)
		}
		if err := g.set(name, value); err != nil {
			return g, nil, fmt.Errorf("-%s: %w", name, err)
		}
		g.Args = append(g.Args, args[i:i+used]...)
		i += used
	}
	return g, nil, nil
}

// splitGeneric reads the first of args. used is how many arguments belong to it, more than there are if its value is
// missing, and 0 if it is no generic option.
func splitGeneric(args []string) (name, value string, used int) {
	bare := strings.TrimPrefix(strings.TrimPrefix(args[0], "-"), "-")
	if bare == args[0] || bare == "" {
		return "", "", 0
	}
	if _, known := takes(bare); known {
		if len(args) < 2 || startsGeneric(args[1]) || strings.HasPrefix(args[1], opPrefix) {
			return bare, "", len(args) + 1
		}
		return bare, args[1], 2
	}
	if name, value, ok := strings.Cut(bare, "="); ok {
		if _, known := takes(name); known {
			return name, value, 1
		}
	}
	if strings.HasPrefix(args[0], "-D") {
		return "D", args[0][2:], 1
	}
	return "", "", 0
}

// startsGeneric tells whether an argument is itself an option, so that it cannot be another one's value.
func startsGeneric(arg string) bool {
	name := strings.TrimPrefix(strings.TrimPrefix(arg, "-"), "-")
	_, known := takes(name)
	return known && name != arg
}

func (g *Generic) set(name, value string) error {
	if value == "" {
		return errors.New("the value is empty")
	}
	switch name {
	case "conf":
		g.Conf = append(g.Conf, value)
	case "fs":
		g.FS = fileSystem(value)
	case "D":
		key, text, ok := strings.Cut(value, "=")
		if !ok || strings.TrimSpace(key) == "" {
			return fmt.Errorf("%q is not name=value", value)
		}
		g.Properties[key] = text
	}
	return nil
}

// fileSystem completes the short forms that Hadoop still takes: local, and host:port of a NameNode. The path behind a
// NameNode's address is left out, since Hadoop gives it no meaning.
func fileSystem(text string) string {
	switch {
	case text == "local":
		return "file:///"
	case !strings.Contains(text, "/"):
		return "hdfs://" + text
	}
	if address, ok := strings.CutPrefix(text, "hdfs://"); ok {
		address, _, _ = strings.Cut(address, "/")
		return "hdfs://" + address
	}
	return text
}
