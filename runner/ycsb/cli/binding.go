package cli

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/hadoop-bench/operator/runner/hadoop/conf"
	"github.com/hadoop-bench/operator/runner/hbase"
	"github.com/hadoop-bench/operator/runner/steps"
	"github.com/hadoop-bench/operator/runner/ycsb"
	"github.com/hadoop-bench/operator/runner/ycsb/basic"
	"github.com/hadoop-bench/operator/runner/ycsb/hbasedb"
)

// The bindings there are.
const (
	BindingHBase = "hbase"
	BindingBasic = "basic"

	bindingNames = BindingHBase + " or " + BindingBasic
)

// What YCSB calls its bindings of HBase: by versions, and by classes.
var (
	hbaseName  = regexp.MustCompile(`^hbase-?(098|1|2|10|12|14|20)?$`)
	hbaseClass = regexp.MustCompile(`^(site|com\.yahoo)\.ycsb\.db\.(hbase[0-9]*\.)?HBaseClient[0-9]*$`)
	basicClass = regexp.MustCompile(`^(site|com\.yahoo)\.ycsb\.BasicDB$`)
)

func bindingOfName(name string) (string, error) {
	switch {
	case hbaseName.MatchString(name):
		return BindingHBase, nil
	case name == BindingBasic:
		return BindingBasic, nil
	}
	return "", fmt.Errorf("binding %q is not supported: give %s", name, bindingNames)
}

func bindingOfClass(class string) (string, error) {
	switch {
	case hbaseClass.MatchString(class):
		return BindingHBase, nil
	case basicClass.MatchString(class):
		return BindingBasic, nil
	}
	return "", fmt.Errorf("class %q of -db, or of the property db, is not supported: "+
		"give site.ycsb.db.hbase2.HBaseClient2 for HBase or site.ycsb.BasicDB for no database", class)
}

// connect opens the database of the command. Errors are *steps.Error.
func (p *Process) connect(ctx context.Context, log *slog.Logger, c *Command, config *ycsb.Config) (ycsb.DB, error) {
	if p.Open != nil {
		return p.Open(ctx, c.Binding, config)
	}
	if c.Binding == BindingBasic {
		db, err := basic.Open(basic.Options{Properties: c.Properties, Clock: p.Clock, Seed: config.Seed})
		if err != nil {
			return nil, steps.PlanError(err)
		}
		for _, warning := range db.Warnings {
			log.Warn(warning)
		}
		return db, nil
	}
	loaded, err := p.configuration(log, c)
	if err != nil {
		return nil, steps.ConfigError(err)
	}
	user, _ := p.LookupEnv("HADOOP_USER_NAME")
	return hbasedb.Open(ctx, hbasedb.Options{
		Properties: c.Properties, Conf: loaded, User: cmp.Or(user, p.Username, steps.DefaultUser), LookupEnv: p.LookupEnv,
		Clock: p.Clock, Log: log, Seed: config.Seed,
	})
}

// configuration is that of HBase's client: of each file the first one of the directories of -cp, HBASE_CONF_DIR and
// HADOOP_CONF_DIR. A directory of the environment that is none is refused: HBase's defaults would hold in its place, and
// another cluster than the one that was meant would be measured.
func (p *Process) configuration(log *slog.Logger, c *Command) (*conf.Conf, error) {
	dirs := slices.Clone(c.ClassPath)
	for _, name := range []string{"HBASE_CONF_DIR", "HADOOP_CONF_DIR"} {
		dir, _ := p.LookupEnv(name)
		if dir == "" {
			continue
		}
		if info, err := os.Stat(dir); err != nil || !info.IsDir() {
			return nil, fmt.Errorf("%s: %q is no directory that can be read: correct it, or unset it", name, dir)
		}
		dirs = append(dirs, dir)
	}
	files := map[string][]byte{}
	for _, dir := range dirs {
		found, err := conf.ReadDir(dir)
		if err != nil {
			return nil, err
		}
		for name, text := range found {
			if _, ok := files[name]; !ok && strings.HasSuffix(name, ".xml") {
				files[name] = text
			}
		}
	}
	if _, ok := files["hbase-site.xml"]; !ok {
		log.Warn("There is no file hbase-site.xml in the directories of -cp, HBASE_CONF_DIR and HADOOP_CONF_DIR: "+
			"HBase's defaults hold where -p does not set a property", "directories", strings.Join(dirs, ":"))
	}
	return conf.Load(files, conf.Options{Files: hbase.ConfFiles(), LookupEnv: p.LookupEnv})
}
