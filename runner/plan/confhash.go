package plan

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"maps"
	"slices"
)

// ConfHash identifies a set of Hadoop configuration files, given by name: "sha256:" and the first 16 hexadecimal digits
// of a SHA-256 over every name and content in the order of the names. Each part is preceded by its length, so that no
// byte can move from one file, or from a name, to the next without a change of the hash. The operator hashes the
// ConfigMap it mounts and the shard hashes the files it reads: a difference means that the configuration was changed
// during the run.
func ConfHash(files map[string][]byte) string {
	sum := sha256.New()
	var length [8]byte
	part := func(b []byte) {
		binary.BigEndian.PutUint64(length[:], uint64(len(b)))
		sum.Write(length[:])
		sum.Write(b)
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		part([]byte(name))
		part(files[name])
	}
	return "sha256:" + hex.EncodeToString(sum.Sum(nil))[:16]
}
