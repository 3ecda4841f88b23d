package upstream

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/hadoop-bench/operator/runner/report"
	"github.com/hadoop-bench/operator/runner/steps"
)

// An Installation is a Hadoop on this machine, laid out as in its release archive.
type Installation struct {
	Home        string
	Java        string   // the program
	Version     string   // of Hadoop, from the name of the class's archive
	JavaVersion string   // such as 17.0.15
	ConfDirs    []string // with Hadoop's configuration, the first one that has a file counts
	Options     []string // of the JVM, from the environment

	class []byte // texts of the benchmark's class files
}

const (
	benchmarkClass = "org.apache.hadoop.hdfs.server.namenode.NNThroughputBenchmark"
	nameNodeClass  = "org.apache.hadoop.hdfs.server.namenode.NameNode"
	// javaTimeout bounds asking Java for its version.
	javaTimeout = time.Minute
	// maxClassBytes bounds what is read of the benchmark's class files; they have 100 kB in all.
	maxClassBytes = 4 << 20
)

// remedyImage is for all that an image can lack.
const remedyImage = "use an image with a whole Hadoop release (share/hadoop with the tests archives of hdfs and common) and a Java for it"

// Find looks for a Hadoop and a Java as Hadoop's scripts do: HADOOP_HOME; JAVA_HOME, else java of the path. The given
// directories with configuration go before HADOOP_CONF_DIR, else HADOOP_HOME/etc/hadoop. Its errors are *steps.Error.
func Find(ctx context.Context, lookupEnv func(string) (string, bool), confDirs ...string) (*Installation, error) {
	env := func(name string) string {
		value, _ := lookupEnv(name)
		return value
	}
	in := &Installation{Home: env("HADOOP_HOME"), Options: jvmOptions(env)}
	if in.Home == "" {
		return nil, lacking("HADOOP_HOME is not set")
	}
	archive, version, err := findArchive(in.Home, "hdfs", "hadoop-hdfs")
	if err != nil {
		return nil, err
	}
	// The class uses helpers of the other archive.
	if _, _, err := findArchive(in.Home, "common", "hadoop-common"); err != nil {
		return nil, err
	}
	in.Version = version
	if in.class, err = readClass(archive); err != nil {
		return nil, lacking("%s: %v", archive, err)
	}
	conf := env("HADOOP_CONF_DIR")
	if conf == "" {
		conf = filepath.Join(in.Home, "etc", "hadoop")
	}
	in.ConfDirs = append(append(in.ConfDirs, confDirs...), conf)
	if in.Java, err = findJava(env("JAVA_HOME"), env("PATH")); err != nil {
		return nil, err
	}
	in.JavaVersion, err = askJava(ctx, in.Java)
	return in, err
}

func lacking(format string, args ...any) error {
	return steps.Fail(report.ExitPlan, steps.ReasonUpstreamFailed, remedyImage, "Hadoop's own class cannot be run: "+format, args...)
}

// findArchive finds share/hadoop/<dir>/<name>-<version>-tests.jar.
func findArchive(home, dir, name string) (path, version string, err error) {
	in := filepath.Join(home, "share", "hadoop", dir)
	entries, err := os.ReadDir(in)
	if err != nil {
		return "", "", lacking("HADOOP_HOME %q: %v", home, err)
	}
	// A version begins with a digit; hadoop-hdfs-client is another archive.
	pattern := regexp.MustCompile("^" + regexp.QuoteMeta(name) + `-(\d.*)-tests\.jar$`)
	for _, entry := range entries {
		if match := pattern.FindStringSubmatch(entry.Name()); match != nil {
			return filepath.Join(in, entry.Name()), match[1], nil
		}
	}
	return "", "", lacking("there is no %s-<version>-tests.jar in %s", name, in)
}

// readClass returns the bytes of the benchmark's class files.
func readClass(archive string) ([]byte, error) {
	zipped, err := zip.OpenReader(archive)
	if err != nil {
		return nil, err
	}
	defer zipped.Close()
	prefix := strings.ReplaceAll(benchmarkClass, ".", "/")
	var all []byte
	for _, file := range zipped.File {
		if !strings.HasPrefix(file.Name, prefix) {
			continue
		}
		content, err := file.Open()
		if err != nil {
			return nil, err
		}
		text, err := io.ReadAll(io.LimitReader(content, maxClassBytes))
		content.Close()
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", file.Name, err)
		}
		all = append(all, text...)
	}
	if len(all) == 0 {
		return nil, errors.New("the class is not in it")
	}
	return all, nil
}

// Knows tells whether this version of the class has an option: releases differ, and distributions take over single changes.
// A class file holds each text as a two-byte length and the text itself, so that no longer one is taken for it.
func (in *Installation) Knows(option string) bool {
	constant := append([]byte{1, byte(len(option) >> 8), byte(len(option))}, option...)
	return bytes.Contains(in.class, constant)
}

func findJava(home, path string) (string, error) {
	if home != "" {
		java := filepath.Join(home, "bin", "java")
		if _, err := os.Stat(java); err != nil {
			return "", lacking("JAVA_HOME %q: %v", home, err)
		}
		return java, nil
	}
	for dir := range strings.SplitSeq(path, string(os.PathListSeparator)) {
		java := filepath.Join(dir, "java")
		if info, err := os.Stat(java); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 && filepath.IsAbs(java) {
			return java, nil
		}
	}
	return "", lacking("neither is JAVA_HOME set nor is there a java in PATH")
}

func askJava(ctx context.Context, java string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, javaTimeout)
	defer cancel()
	command := exec.CommandContext(ctx, java, "-version")
	command.WaitDelay = time.Second
	output, err := command.CombinedOutput()
	if cause := context.Cause(ctx); cause != nil {
		return "", cause
	}
	version := javaVersion(string(output))
	if err != nil || version == "" {
		return "", lacking("%s -version: %v: %s", java, err, lastWords(string(output)))
	}
	return version, nil
}

// javaVersion reads what java -version prints; empty if it is something else.
func javaVersion(output string) string {
	match := regexp.MustCompile(`(?m)^\S+ version "([^"]+)"`).FindStringSubmatch(output)
	if match == nil {
		return ""
	}
	return match[1]
}

// javaMajor is the number that a version is called by: 8 for 1.8.0_402, 17 for 17.0.15; 0 if it cannot be told.
func javaMajor(version string) int {
	parts := strings.FieldsFunc(version, func(r rune) bool { return r < '0' || r > '9' })
	if len(parts) > 1 && parts[0] == "1" {
		parts = parts[1:]
	}
	if len(parts) == 0 {
		return 0
	}
	major, _ := strconv.Atoi(parts[0])
	return major
}

// jvmOptions are what the environment wants of the JVM, by the variables of Hadoop's scripts: HADOOP_HEAPSIZE_MAX (with a
// unit, else in MiB) and HADOOP_OPTS.
func jvmOptions(env func(string) string) []string {
	var options []string
	if heap := strings.TrimSpace(env("HADOOP_HEAPSIZE_MAX")); heap != "" {
		if _, err := strconv.Atoi(heap); err == nil {
			heap += "m"
		}
		options = append(options, "-Xmx"+heap)
	}
	return append(options, strings.Fields(env("HADOOP_OPTS"))...)
}
