package dfsio

import (
	"errors"
	"io"
	"time"
)

// ErrNotEmpty says that a directory was not removed because something is in it.
var ErrNotEmpty = errors.New("directory is not empty")

// FileInfo is what the steps need to know of a file or directory.
type FileInfo struct {
	Name         string // last element of the path
	Size         int64  // bytes
	Dir          bool
	ModTime      time.Time // by the NameNode's clock, whole milliseconds
	Encrypted    bool      // lies in an encryption zone
	ErasureCoded bool      // has an erasure coding policy
}

// Space is the file system's capacity, in bytes over all its DataNodes and counting every replica.
type Space struct {
	Capacity, Remaining int64
}

// Defaults are the NameNode's own settings, which hold where the configuration says nothing.
type Defaults struct {
	BlockSize        int64
	Replication      int64
	BytesPerChecksum int64
	EncryptsTransfer bool // DataNodes accept encrypted connections only
}

// A FS is the file system under test as one worker sees it. It is used by one goroutine at a time. Errors wrap
// fs.ErrNotExist, fs.ErrExist, fs.ErrPermission and ErrNotEmpty where they apply. Every call ends in bounded time; how
// long a call may take and what ends it early is settled when the file system is connected.
type FS interface {
	Stat(path string) (FileInfo, error)
	// List returns a directory's entries by name.
	List(dir string) ([]FileInfo, error)
	// Mkdir makes one directory, whose parent must exist.
	Mkdir(path string) error
	// Create makes a file that must not exist, and opens it. Close of the stream returns when the file is complete.
	Create(path string, replication int, blockSize int64) (io.WriteCloser, error)
	Open(path string) (io.ReadCloser, error)
	// Remove removes a file or an empty directory; it never removes what is in a directory.
	Remove(path string) error
	Space() (Space, error)
	Defaults() (Defaults, error)
	// NameNode is the address of the NameNode that answered last.
	NameNode() string
	// Traffic is the number of bytes received and sent so far on all connections.
	Traffic() (received, sent int64)
	Close() error
}
