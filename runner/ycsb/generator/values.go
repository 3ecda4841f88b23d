package generator

import (
	"encoding/binary"
	"strconv"
)

// Fill makes a random value of YCSB's alphabet: groups of six bytes from 32 random bits each, of which 30 count. Such values
// compress by about a third.
func Fill(b []byte, r *Random) {
	// A group is written as eight bytes, whose last two the next group overwrites.
	for len(b) >= 14 {
		random := r.Uint64()
		binary.LittleEndian.PutUint64(b, group(uint32(random)))
		binary.LittleEndian.PutUint64(b[6:], group(uint32(random>>32)))
		b = b[12:]
	}
	for len(b) > 0 {
		var bytes [8]byte
		binary.LittleEndian.PutUint64(bytes[:], group(uint32(r.Uint64())))
		b = b[copy(b, bytes[:6]):]
	}
}

// group returns six bytes, the first lowest.
func group(random uint32) uint64 {
	r := uint64(random)
	return 0x202020202020 + (r&31 | r>>5&63<<8 | r>>10&95<<16 | r>>15&31<<24 | r>>20&63<<32 | r>>25&95<<40)
}

// Integrity makes the value that YCSB's data integrity check expects of a field: key, ":" and the field's name, and then
// over and over ":" and the Java hash code of all so far. key and field are ASCII.
func Integrity(b, key, field []byte) {
	var hash int32
	at := put(b, 0, &hash, key)
	at = put(b, at, &hash, colon)
	at = put(b, at, &hash, field)
	var digits [12]byte
	for at < len(b) {
		at = put(b, at, &hash, colon)
		at = put(b, at, &hash, strconv.AppendInt(digits[:0], int64(hash), 10))
	}
}

var colon = []byte{':'}

// put copies text to b from at on, as far as there is room, and carries on the hash.
func put(b []byte, at int, hash *int32, text []byte) int {
	h := *hash
	for _, c := range text {
		h = 31*h + int32(c)
	}
	*hash = h
	return at + copy(b[at:], text)
}
