package main

import (
	"archive/tar"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// Tree is a directory on disk and where its content goes in the image.
type Tree struct {
	Dir    string
	Prefix string // absolute path in the image
}

// fileLayer is a layer whose content is a tar file on disk. It is not compressed: these archives never leave the machine,
// and jar files and a JVM's image of its classes are compressed already, as far as it saves much.
type fileLayer struct {
	path string
	hash v1.Hash
	size int64
}

func (l fileLayer) Digest() (v1.Hash, error)             { return l.hash, nil }
func (l fileLayer) DiffID() (v1.Hash, error)             { return l.hash, nil }
func (l fileLayer) Compressed() (io.ReadCloser, error)   { return os.Open(l.path) }
func (l fileLayer) Uncompressed() (io.ReadCloser, error) { return os.Open(l.path) }
func (l fileLayer) Size() (int64, error)                 { return l.size, nil }
func (l fileLayer) MediaType() (types.MediaType, error)  { return types.OCIUncompressedLayer, nil }

// treeLayer packs tree into file and gives the layer that reads it from there.
func treeLayer(tree Tree, file string) (v1.Layer, error) {
	if !path.IsAbs(tree.Prefix) || path.Clean(tree.Prefix) != tree.Prefix {
		return nil, fmt.Errorf("tree %s: prefix %q is not a clean absolute path", tree.Dir, tree.Prefix)
	}
	f, err := os.Create(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	hash := sha256.New()
	w := tar.NewWriter(io.MultiWriter(f, hash))
	if err := addParents(w, tree.Prefix); err != nil {
		return nil, err
	}
	if err := addTree(w, tree); err != nil {
		return nil, fmt.Errorf("pack %s: %w", tree.Dir, err)
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	digest := v1.Hash{Algorithm: "sha256", Hex: hex.EncodeToString(hash.Sum(nil))}
	return fileLayer{path: file, hash: digest, size: info.Size()}, nil
}

// addParents adds the directories that lead to the absolute path dir, and dir itself.
func addParents(w *tar.Writer, dir string) error {
	elements := strings.Split(strings.Trim(dir, "/"), "/")
	if dir == "/" {
		return nil
	}
	for i := range elements {
		header := tar.Header{Typeflag: tar.TypeDir, Name: strings.Join(elements[:i+1], "/") + "/", Mode: 0o755}
		if err := w.WriteHeader(&header); err != nil {
			return err
		}
	}
	return nil
}

// addTree adds what is below tree.Dir, in the order of names.
func addTree(w *tar.Writer, tree Tree) error {
	return filepath.WalkDir(tree.Dir, func(file string, entry fs.DirEntry, err error) error {
		if err != nil || file == tree.Dir {
			return err
		}
		relative, err := filepath.Rel(tree.Dir, file)
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		return addEntry(w, path.Join(tree.Prefix, filepath.ToSlash(relative))[1:], file, info)
	})
}

// addEntry adds one directory, link or file of root's, with no timestamp. Every user can read it; setuid bits are dropped.
func addEntry(w *tar.Writer, name, file string, info fs.FileInfo) error {
	mode := int64(info.Mode().Perm()) | 0o444
	switch info.Mode().Type() {
	case fs.ModeDir:
		if info.Mode()&fs.ModeSticky != 0 {
			mode |= 0o1000
		}
		return w.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: name + "/", Mode: mode | 0o111})
	case fs.ModeSymlink:
		target, err := os.Readlink(file)
		if err != nil {
			return err
		}
		return w.WriteHeader(&tar.Header{Typeflag: tar.TypeSymlink, Name: name, Linkname: target, Mode: 0o777})
	case 0:
		return addFileFrom(w, name, mode, file, info.Size())
	}
	return fmt.Errorf("%s is a %s, neither directory, link nor file", file, info.Mode().Type())
}

func addFileFrom(w *tar.Writer, name string, mode int64, file string, size int64) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := w.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: mode, Size: size}); err != nil {
		return err
	}
	_, err = io.Copy(w, f)
	return err
}
