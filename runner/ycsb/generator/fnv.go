package generator

// FNV64 is YCSB's hash of a number: FNV-1a over its eight bytes, the lowest first, and then the absolute value. It is
// negative for the one hash whose absolute value is not an int64, as YCSB's is.
func FNV64(k int64) int64 {
	const (
		offset = 0xCBF29CE484222325
		prime  = 1099511628211
	)
	v, h := uint64(k), uint64(offset)
	h = (h ^ v&0xff) * prime
	h = (h ^ v>>8&0xff) * prime
	h = (h ^ v>>16&0xff) * prime
	h = (h ^ v>>24&0xff) * prime
	if v>>32 == 0 {
		h *= prime * prime * prime * prime & (1<<64 - 1) // four bytes of 0 in one step
	} else {
		h = (h ^ v>>32&0xff) * prime
		h = (h ^ v>>40&0xff) * prime
		h = (h ^ v>>48&0xff) * prime
		h = (h ^ v>>56) * prime
	}
	if int64(h) < 0 {
		return -int64(h)
	}
	return int64(h)
}
