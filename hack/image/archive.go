package main

import (
	"archive/tar"
	"bytes"
	"fmt"
	"io"
	"sort"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// blob is one file of an OCI layout. Layers may be large, so they are read when they are written.
type blob struct {
	size int64
	open func() (io.ReadCloser, error)
}

func inMemory(data []byte) blob {
	return blob{int64(len(data)), func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(data)), nil }}
}

// WriteArchive writes img as a tar file of an OCI layout.
func WriteArchive(out io.Writer, img v1.Image, spec Spec) error {
	files, err := layoutFiles(img, spec)
	if err != nil {
		return err
	}
	names := make([]string, 0, len(files))
	for name := range files {
		names = append(names, name)
	}
	sort.Strings(names)
	w := tar.NewWriter(out)
	for _, name := range names {
		if err := addBlob(w, name, files[name]); err != nil {
			return fmt.Errorf("write %s: %w", name, err)
		}
	}
	return w.Close()
}

func addBlob(w *tar.Writer, name string, b blob) error {
	r, err := b.open()
	if err != nil {
		return err
	}
	defer r.Close()
	if err := w.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: 0o644, Size: b.size}); err != nil {
		return err
	}
	_, err = io.Copy(w, r)
	return err
}

// layoutFiles gives the files of an OCI layout with img as its only image.
func layoutFiles(img v1.Image, spec Spec) (map[string]blob, error) {
	index, err := indexOf(img, spec).RawManifest()
	if err != nil {
		return nil, err
	}
	files := map[string]blob{
		"oci-layout": inMemory([]byte(`{"imageLayoutVersion":"1.0.0"}`)),
		"index.json": inMemory(index),
	}
	for _, content := range []func() ([]byte, error){img.RawManifest, img.RawConfigFile} {
		data, err := content()
		if err != nil {
			return nil, err
		}
		hash, _, err := v1.SHA256(bytes.NewReader(data))
		if err != nil {
			return nil, err
		}
		files[blobPath(hash)] = inMemory(data)
	}
	layers, err := img.Layers()
	if err != nil {
		return nil, err
	}
	for _, layer := range layers {
		hash, err := layer.Digest()
		if err != nil {
			return nil, err
		}
		size, err := layer.Size()
		if err != nil {
			return nil, err
		}
		files[blobPath(hash)] = blob{size, layer.Compressed}
	}
	return files, nil
}

func blobPath(hash v1.Hash) string { return "blobs/" + hash.Algorithm + "/" + hash.Hex }

// indexOf wraps img in an index that names it: containerd reads its own annotation, the others OCI's, which is a tag.
func indexOf(img v1.Image, spec Spec) v1.ImageIndex {
	_, tag, _ := strings.Cut(spec.Name[strings.LastIndex(spec.Name, "/")+1:], ":")
	return mutate.AppendManifests(mutate.IndexMediaType(empty.Index, types.OCIImageIndex), mutate.IndexAddendum{
		Add: img,
		Descriptor: v1.Descriptor{
			Platform: &v1.Platform{OS: "linux", Architecture: spec.Arch},
			Annotations: map[string]string{
				"io.containerd.image.name":          spec.Name,
				"org.opencontainers.image.ref.name": tag,
			},
		},
	})
}
