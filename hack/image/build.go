package main

import (
	"archive/tar"
	"bytes"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// Spec says what goes into an image: trees, each a layer, then the binary, if there is one, with all that it needs.
type Spec struct {
	Name       string // with tag
	Trees      []Tree
	Binary     string // file to pack
	Arch       string // GOARCH of the content
	User       string // uid:gid
	Entrypoint string // absolute path of the binary in the image
	Env        []string
}

// passwd gives the default user a name and a home that is writable when /tmp is.
const passwd = "hadoop-bench:x:65532:65532:hadoop-bench:/tmp:/sbin/nologin\n"

// Build makes the image. Large layers are files in scratch and have to stay there while the image is used.
func Build(spec Spec, scratch string) (v1.Image, error) {
	layers, err := layersOf(spec, scratch)
	if err != nil {
		return nil, err
	}
	base := mutate.MediaType(empty.Image, types.OCIManifestSchema1)
	base = mutate.ConfigMediaType(base, types.OCIConfigJSON)
	img, err := mutate.AppendLayers(base, layers...)
	if err != nil {
		return nil, err
	}
	config, err := img.ConfigFile()
	if err != nil {
		return nil, err
	}
	config = config.DeepCopy()
	config.OS, config.Architecture = "linux", spec.Arch
	config.Config = v1.Config{User: spec.User, WorkingDir: "/", Env: spec.Env}
	if spec.Binary != "" {
		config.Config.Entrypoint = []string{spec.Entrypoint}
		config.Config.Env = append([]string{"PATH=" + path.Dir(spec.Entrypoint)}, spec.Env...)
	}
	return mutate.ConfigFile(img, config)
}

func layersOf(spec Spec, scratch string) ([]v1.Layer, error) {
	var layers []v1.Layer
	for i, tree := range spec.Trees {
		layer, err := treeLayer(tree, filepath.Join(scratch, fmt.Sprintf("layer-%d.tar", i)))
		if err != nil {
			return nil, err
		}
		layers = append(layers, layer)
	}
	if spec.Binary == "" {
		return layers, nil
	}
	layer, err := binaryLayer(spec)
	if err != nil {
		return nil, err
	}
	return append(layers, layer), nil
}

// binaryLayer is a layer of the binary, /etc/passwd and /tmp.
func binaryLayer(spec Spec) (v1.Layer, error) {
	binary, err := os.ReadFile(spec.Binary)
	if err != nil {
		return nil, err
	}
	content, err := layerContent(spec.Entrypoint, binary)
	if err != nil {
		return nil, err
	}
	return tarball.LayerFromOpener(
		func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(content)), nil },
		tarball.WithMediaType(types.OCILayer),
	)
}

// layerContent is the layer as a tar file. Directories come before what is in them.
func layerContent(entrypoint string, binary []byte) ([]byte, error) {
	if !path.IsAbs(entrypoint) || path.Clean(entrypoint) != entrypoint || entrypoint == "/" {
		return nil, fmt.Errorf("entrypoint %q is not a clean absolute path", entrypoint)
	}
	var buf bytes.Buffer
	w := tar.NewWriter(&buf)
	headers := []tar.Header{
		{Typeflag: tar.TypeDir, Name: "etc/", Mode: 0o755},
		{Typeflag: tar.TypeDir, Name: "tmp/", Mode: 0o1777},
	}
	for dir := path.Dir(entrypoint); dir != "/" && dir != "/etc" && dir != "/tmp"; dir = path.Dir(dir) {
		headers = append([]tar.Header{{Typeflag: tar.TypeDir, Name: dir[1:] + "/", Mode: 0o755}}, headers...)
	}
	for i := range headers {
		if err := w.WriteHeader(&headers[i]); err != nil {
			return nil, err
		}
	}
	if err := addFile(w, "etc/passwd", 0o644, []byte(passwd)); err != nil {
		return nil, err
	}
	if err := addFile(w, strings.TrimPrefix(entrypoint, "/"), 0o755, binary); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return buf.Bytes(), nil
}

// addFile adds a regular file of root's, with no timestamp.
func addFile(w *tar.Writer, name string, mode int64, data []byte) error {
	if err := w.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: mode, Size: int64(len(data))}); err != nil {
		return err
	}
	_, err := w.Write(data)
	return err
}
