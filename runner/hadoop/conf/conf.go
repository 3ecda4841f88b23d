// Package conf reads Hadoop's configuration files (core-site.xml, hdfs-site.xml) as Hadoop's own Configuration class
// does: XInclude, final, ${variable} and ${env.NAME} substitution, deprecated names, overrides as by -D, and the
// addresses of NameNodes, also of highly available name services. It is bounded in every direction, since the files are
// a user's.
package conf

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Bounds of what is read.
const (
	MaxFileBytes    = 1 << 20 // of one file; a ConfigMap as a whole cannot be larger
	MaxFiles        = 256     // of one directory
	MaxIncludeDepth = 10      // of files that include one another
	MaxSubstitution = 20      // of rounds of substitution in one value, as in Hadoop
	maxValueBytes   = 64 << 10
)

// ErrFile is wrapped by every error about the files themselves, in contrast to errors about a value.
var ErrFile = errors.New("unusable Hadoop configuration file")

// deprecated gives today's names of old ones that still stand in configuration files. Hadoop knows hundreds; these are
// the ones that this program reads.
func deprecated(name string) string {
	switch name {
	case "fs.default.name":
		return "fs.defaultFS"
	case "dfs.block.size":
		return "dfs.blocksize"
	case "dfs.federation.nameservices":
		return "dfs.nameservices"
	case "dfs.replication.min":
		return "dfs.namenode.replication.min"
	case "dfs.socket.timeout":
		return "dfs.client.socket-timeout"
	}
	return name
}

// Options say how a configuration is put together.
type Options struct {
	// Files are the names of the files that are read, later ones over earlier ones; a name that does not exist is passed
	// over. Nil means core-site.xml and hdfs-site.xml, which is what Hadoop's HDFS client reads.
	Files []string
	// Overrides stand over everything in the files, also over what is final there, as -D does in Hadoop.
	Overrides map[string]string
	// LookupEnv resolves ${env.NAME}. Nil means that no environment variable is set.
	LookupEnv func(name string) (string, bool)
}

// Conf is a loaded configuration. It never changes and may be used concurrently.
type Conf struct {
	properties map[string]property
	lookupEnv  func(string) (string, bool)
}

// property is one value as it stands in the files, before substitution.
type property struct {
	value  string
	final  bool
	source string // file:line, or "override"
}

// ReadDir reads the regular files of a directory, by name. Names starting with ".." are passed over: a mounted
// ConfigMap keeps its versions there. A directory that does not exist holds no files.
func ReadDir(dir string) (map[string][]byte, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, os.ErrNotExist) {
		return map[string][]byte{}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list Hadoop configuration: %w: %w", ErrFile, err)
	}
	files := make(map[string][]byte, len(entries))
	for _, entry := range entries {
		if strings.HasPrefix(entry.Name(), "..") {
			continue
		}
		path := filepath.Join(dir, entry.Name())
		// Not entry.Info: the files of a mounted ConfigMap are symbolic links.
		info, err := os.Stat(path)
		if err != nil {
			return nil, fmt.Errorf("look at Hadoop configuration: %w: %w", ErrFile, err)
		}
		if !info.Mode().IsRegular() {
			continue
		}
		if info.Size() > MaxFileBytes {
			return nil, tooLarge(path, info.Size())
		}
		if len(files) == MaxFiles {
			return nil, fmt.Errorf("%w: %s holds more than %d files; keep Hadoop's configuration in a directory of its own", ErrFile, dir, MaxFiles)
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return nil, fmt.Errorf("read Hadoop configuration: %w: %w", ErrFile, err)
		}
		files[entry.Name()] = content
	}
	return files, nil
}

func tooLarge(name string, size int64) error {
	return fmt.Errorf("%w: %s has %d bytes, more than %d; remove what is not Hadoop configuration", ErrFile, name, size, MaxFileBytes)
}

// Load puts a configuration together from files given by name. Includes are looked up among the same files.
func Load(files map[string][]byte, opts Options) (*Conf, error) {
	c := &Conf{properties: map[string]property{}, lookupEnv: opts.LookupEnv}
	if c.lookupEnv == nil {
		c.lookupEnv = func(string) (string, bool) { return "", false }
	}
	names := opts.Files
	if names == nil {
		names = []string{"core-site.xml", "hdfs-site.xml"}
	}
	for _, name := range names {
		if _, ok := files[name]; !ok {
			continue
		}
		l := loader{conf: c, files: files}
		if err := l.load(name, 0); err != nil {
			return nil, err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(opts.Overrides)) {
		if strings.TrimSpace(name) == "" {
			return nil, fmt.Errorf("override %q=%q: a property needs a name", name, opts.Overrides[name])
		}
		c.properties[deprecated(name)] = property{value: opts.Overrides[name], source: "override"}
	}
	return c, nil
}

// LoadDir is ReadDir and Load.
func LoadDir(dir string, opts Options) (*Conf, error) {
	files, err := ReadDir(dir)
	if err != nil {
		return nil, err
	}
	return Load(files, opts)
}

// With returns a copy in which one property has another value, as by an override.
func (c *Conf) With(name, value string) *Conf {
	copied := &Conf{properties: maps.Clone(c.properties), lookupEnv: c.lookupEnv}
	copied.properties[deprecated(name)] = property{value: value, source: "override"}
	return copied
}

// set stores what a file says, unless an earlier file said it finally.
func (c *Conf) set(name string, p property) {
	name = deprecated(name)
	if c.properties[name].final {
		return
	}
	c.properties[name] = p
}
