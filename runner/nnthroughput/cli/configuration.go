package cli

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"

	"github.com/hadoop-bench/operator/runner/hadoop/conf"
	"github.com/hadoop-bench/operator/runner/plan"
	"github.com/hadoop-bench/operator/runner/steps"
)

// configuration loads what Hadoop would: core-site.xml and hdfs-site.xml of HADOOP_CONF_DIR, else of
// HADOOP_HOME/etc/hadoop, then the files of -conf, and over all of them -D and -fs.
func (p *Process) configuration(c *Command) (*conf.Conf, error) {
	files := map[string][]byte{}
	if dir := p.confDir(); dir != "" {
		var err error
		if files, err = conf.ReadDir(dir); err != nil {
			return nil, steps.ConfigError(err)
		}
	}
	names := []string{"core-site.xml", "hdfs-site.xml"}
	for _, path := range c.Generic.Conf {
		text, err := readFile(path)
		if err != nil {
			return nil, steps.ConfigError(fmt.Errorf("-conf %s: %w", path, err))
		}
		files[path] = text
		names = append(names, path)
	}
	loaded, err := conf.Load(files, conf.Options{Files: names, Overrides: c.Generic.Properties, LookupEnv: p.LookupEnv})
	if err != nil {
		return nil, steps.ConfigError(err)
	}
	if c.Generic.FS != "" {
		loaded = loaded.With("fs.defaultFS", c.Generic.FS)
	}
	return loaded, nil
}

// confDir is the directory with Hadoop's configuration; empty if there is none.
func (p *Process) confDir() string {
	if dir := p.env("HADOOP_CONF_DIR"); dir != "" {
		return dir
	}
	if home := p.env("HADOOP_HOME"); home != "" {
		return filepath.Join(home, "etc", "hadoop")
	}
	return ""
}

func (p *Process) env(name string) string {
	value, _ := p.LookupEnv(name)
	return value
}

func readFile(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if info.Size() > conf.MaxFileBytes {
		return nil, fmt.Errorf("%w: %d bytes, more than %d", conf.ErrFile, info.Size(), conf.MaxFileBytes)
	}
	return os.ReadFile(path)
}

// standalone tells whether the default file system is none of the network, so that upstream starts a NameNode of its own.
func standalone(c *conf.Conf) (bool, error) {
	fs, err := c.String("fs.defaultFS", "file:///")
	if err != nil {
		return false, steps.ConfigError(err)
	}
	u, err := url.Parse(fs)
	if err != nil {
		return false, steps.ConfigError(fmt.Errorf("fs.defaultFS %q: not a URI; give hdfs://<namenode>:%d", fs, conf.DefaultRPCPort))
	}
	return u.Scheme == "" || u.Scheme == "file", nil
}

// kerberos is how to log in; nil if the configuration wants simple authentication and no option says otherwise.
func (p *Process) kerberos(c *Command, loaded *conf.Conf) (*plan.Kerberos, error) {
	method, err := loaded.String("hadoop.security.authentication", "simple")
	if err != nil {
		return nil, steps.ConfigError(err)
	}
	o := &c.Options
	if method != "kerberos" {
		if o.Keytab != "" || o.Krb5Conf != "" {
			return nil, steps.ConfigError(fmt.Errorf("-keytab, -principal and -krb5conf: the property hadoop.security.authentication is %q; set it to kerberos", method))
		}
		return nil, nil
	}
	return &plan.Kerberos{Principal: o.Principal, Keytab: o.Keytab, Krb5Conf: o.Krb5Conf}, nil
}
