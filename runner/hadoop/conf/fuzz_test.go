package conf_test

import (
	"errors"
	"net"
	"testing"
	"time"

	"github.com/hadoop-bench/operator/runner/hadoop/conf"
)

// FuzzLoad feeds arbitrary files: loading and every getter end, without a panic, with a value or a typed error.
func FuzzLoad(f *testing.F) {
	f.Add(site("fs.defaultFS", "hdfs://${h}:8020", "h", "${env.H:-nn}"), site("probe", "12k"))
	f.Add([]byte(`<configuration><include href="hdfs-site.xml"><fallback/></include></configuration>`), site("probe", "${probe}"))
	f.Add([]byte(`<configuration><property name="a" value="${${b}" final="true"/></configuration>`), []byte("<configuration"))
	f.Add(site("dfs.ha.namenodes.ns", "a,b", "dfs.namenode.rpc-address.ns.a", "[::1]:1", "fs.defaultFS", "hdfs://ns"), []byte(nil))
	f.Fuzz(func(t *testing.T, first, second []byte) {
		files := map[string][]byte{"core-site.xml": first, "hdfs-site.xml": second}
		c, err := conf.Load(files, conf.Options{LookupEnv: func(name string) (string, bool) { return name, name == "H" }})
		if err != nil {
			if !errors.Is(err, conf.ErrFile) {
				t.Fatalf("Load: %v is not an ErrFile", err)
			}
			return
		}
		for _, get := range []func() error{
			func() error { _, err := c.String("probe", ""); return err },
			func() error { _, err := c.Int("probe", 0); return err },
			func() error { _, err := c.Size("probe", 0); return err },
			func() error { _, err := c.Bool("probe", false); return err },
			func() error { _, err := c.Duration("probe", time.Second, 0); return err },
			func() error { _, err := c.List("probe"); return err },
		} {
			if value := new(conf.ValueError); get() != nil && !errors.As(get(), &value) {
				t.Fatalf("%v is not a ValueError", get())
			}
		}
		fs, err := c.FileSystem("")
		if err != nil {
			return
		}
		for _, address := range fs.Addresses {
			if _, _, err := net.SplitHostPort(address); err != nil {
				t.Fatalf("address %q: %v", address, err)
			}
		}
	})
}
