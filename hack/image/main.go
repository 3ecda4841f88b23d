// Command image packs one static binary, or directories, into an OCI image archive, without a container engine and without
// a registry.
//
// The archive is a tar file of an OCI layout, as `ctr images import`, podman and skopeo read it. The same content and
// flags give the same bytes: there are no timestamps, all files are root's, and entries are in a fixed order.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

func main() {
	spec := Spec{}
	flag.StringVar(&spec.Name, "name", "", "image name with tag, for example localhost/app:dev")
	flag.StringVar(&spec.Binary, "binary", "", "static binary, the image's entry point")
	flag.StringVar(&spec.Arch, "arch", "amd64", "architecture of the content, in Go's words")
	flag.StringVar(&spec.User, "user", "65532:65532", "numeric uid:gid; numeric so that runAsNonRoot can be checked")
	flag.StringVar(&spec.Entrypoint, "entrypoint", "", "path of the binary in the image (default /<name of the binary>)")
	flag.Func("tree", "`DIR:PREFIX`: what is in DIR as a layer of its own, below PREFIX; repeatable", func(value string) error {
		dir, prefix, found := strings.Cut(value, ":")
		if !found {
			return fmt.Errorf("want DIR:PREFIX")
		}
		spec.Trees = append(spec.Trees, Tree{Dir: dir, Prefix: prefix})
		return nil
	})
	flag.Func("env", "`NAME=VALUE` of the environment; repeatable", func(value string) error {
		spec.Env = append(spec.Env, value)
		return nil
	})
	out := flag.String("o", "", "archive to write")
	flag.Parse()

	if spec.Name == "" || (spec.Binary == "" && len(spec.Trees) == 0) || *out == "" || flag.NArg() > 0 {
		flag.Usage()
		os.Exit(2)
	}
	if spec.Entrypoint == "" {
		spec.Entrypoint = "/" + filepath.Base(spec.Binary)
	}
	if err := run(spec, *out); err != nil {
		fmt.Fprintln(os.Stderr, "image:", err)
		os.Exit(1)
	}
}

// run writes the archive beside its place first, so that an interrupted run leaves no half archive behind.
func run(spec Spec, out string) error {
	scratch, err := os.MkdirTemp(filepath.Dir(out), ".image-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)
	img, err := Build(spec, scratch)
	if err != nil {
		return fmt.Errorf("build %s: %w", spec.Name, err)
	}
	f, err := os.Create(filepath.Join(scratch, "archive.tar"))
	if err != nil {
		return err
	}
	if err := WriteArchive(f, img, spec); err != nil {
		f.Close()
		return fmt.Errorf("write %s: %w", out, err)
	}
	if err := f.Close(); err != nil {
		return err
	}
	return os.Rename(f.Name(), out)
}
