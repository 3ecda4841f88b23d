package upstream

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"
)

// A Place is where a run of the class writes: everything it writes on this machine lies below Dir.
type Place struct {
	Dir string // absolute
}

func (p Place) conf() string   { return filepath.Join(p.Dir, "conf") }
func (p Place) tmp() string    { return filepath.Join(p.Dir, "tmp") }
func (p Place) name() string   { return filepath.Join(p.Dir, "name") }
func (p Place) logs() string   { return filepath.Join(p.Dir, "logs") }
func (p Place) dirs() []string { return []string{p.conf(), p.tmp(), p.name(), p.logs()} }
func (p Place) hosts() string  { return filepath.Join(p.tmp(), "dfs", "hosts") }
func (p Place) log4j() string  { return filepath.Join(p.conf(), "log4j.properties") }

// log4j has the benchmark's own lines, bare, on standard output and everything else on standard error, so that its report
// can be told from what a NameNode in the same process has to say.
const log4j = `log4j.rootLogger=WARN,errors
log4j.appender.errors=org.apache.log4j.ConsoleAppender
log4j.appender.errors.target=System.err
log4j.appender.errors.layout=org.apache.log4j.PatternLayout
log4j.appender.errors.layout.ConversionPattern=%d{yyyy-MM-dd HH:mm:ss,SSS} %p %c{2}: %m%n
log4j.logger.` + benchmarkClass + `=INFO,benchmark
log4j.additivity.` + benchmarkClass + `=false
log4j.appender.benchmark=org.apache.log4j.ConsoleAppender
log4j.appender.benchmark.target=System.out
log4j.appender.benchmark.layout=org.apache.log4j.PatternLayout
log4j.appender.benchmark.layout.ConversionPattern=%m%n
`

// java is the command line of a class, without its arguments.
func (in *Installation) java(place Place, class string) []string {
	line := []string{in.Java}
	// Hadoop reaches by reflection into what newer Javas close.
	if javaMajor(in.JavaVersion) >= 9 {
		for _, name := range []string{
			"java.base/java.lang", "java.base/java.util", "java.base/java.nio", "java.base/java.net", "java.base/sun.nio.ch",
			"java.security.jgss/sun.security.krb5",
		} {
			line = append(line, "--add-opens="+name+"=ALL-UNNAMED")
		}
	}
	line = append(line, in.Options...)
	return append(line,
		"-Djava.net.preferIPv4Stack=true", "-Dhadoop.home.dir="+in.Home, "-Dhadoop.log.dir="+place.logs(),
		"-Djava.io.tmpdir="+place.tmp(), "-Dlog4j.configuration=file:"+place.log4j(),
		"-cp", in.classPath(place), class)
}

// classPath has the place's own configuration first, then Hadoop's, then the archives.
func (in *Installation) classPath(place Place) string {
	parts := append([]string{place.conf()}, in.ConfDirs...)
	for _, dir := range []string{"common", "common/lib", "hdfs", "hdfs/lib", "mapreduce", "yarn", "tools/lib"} {
		parts = append(parts, filepath.Join(in.Home, "share", "hadoop", dir, "*"))
	}
	return strings.Join(parts, string(filepath.ListSeparator))
}

// localProperties keep what Hadoop writes on this machine within the place.
func localProperties(place Place) map[string]string {
	return map[string]string{
		"hadoop.tmp.dir":         place.tmp(),
		"dfs.namenode.name.dir":  "file://" + place.name(),
		"dfs.namenode.edits.dir": "file://" + place.name(),
	}
}

// generic are Hadoop's generic options: the file system and properties, the latter by name.
func generic(fs string, properties map[string]string) []string {
	args := []string{"-fs", fs}
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		args = append(args, "-D", name+"="+properties[name])
	}
	return args
}
