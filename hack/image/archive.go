package main

import (
	"archive/tar"
	"bytes"
	"io"
	"sort"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

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
		if err := addFile(w, name, 0o644, files[name]); err != nil {
			return err
		}
	}
	return w.Close()
}

// layoutFiles gives the files of an OCI layout with img as its only image.
func layoutFiles(img v1.Image, spec Spec) (map[string][]byte, error) {
	files := map[string][]byte{"oci-layout": []byte(`{"imageLayoutVersion":"1.0.0"}`)}
	index, err := indexOf(img, spec).RawManifest()
	if err != nil {
		return nil, err
	}
	files["index.json"] = index
	blobs := []func() ([]byte, error){img.RawManifest, img.RawConfigFile}
	layers, err := img.Layers()
	if err != nil {
		return nil, err
	}
	for _, layer := range layers {
		blobs = append(blobs, func() ([]byte, error) { return compressed(layer) })
	}
	for _, blob := range blobs {
		data, err := blob()
		if err != nil {
			return nil, err
		}
		if err := addBlob(files, data); err != nil {
			return nil, err
		}
	}
	return files, nil
}

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

func addBlob(files map[string][]byte, data []byte) error {
	hash, _, err := v1.SHA256(bytes.NewReader(data))
	if err != nil {
		return err
	}
	files["blobs/"+hash.Algorithm+"/"+hash.Hex] = data
	return nil
}

func compressed(layer v1.Layer) ([]byte, error) {
	r, err := layer.Compressed()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return io.ReadAll(r)
}
