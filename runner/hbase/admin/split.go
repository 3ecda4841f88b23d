package admin

import (
	"fmt"
	"math"
	"math/bits"
	"strconv"
)

const (
	keyPrefix = "user"

	// hashes is how many values a hashed key's number has: the absolute value of a 64-bit hash is below it.
	hashes = uint64(1) << 63

	// splitError is by how much of a region's share a split key may be off.
	splitError = 1.0 / 4096

	// MaxSplitRegions bounds SplitKeys. A table of more regions than this is not created in one call.
	MaxSplitRegions = 100_000

	maxZeroPadding = 1000
	maxDigits      = 19 // of the largest number
)

// Keys says which keys YCSB's CoreWorkload makes, as far as their order depends on it.
type Keys struct {
	// Ordered keys are "user" and the record's number (insertorder=ordered); others "user" and a 63-bit hash of it.
	Ordered bool
	// ZeroPadding is how many digits the number has at least. YCSB's default is 1, which 0 means too.
	ZeroPadding int
	// Records is how many records there are, numbered from 0. Only ordered keys depend on it.
	Records int64
}

// SplitKeys returns the n-1 keys, ascending, at which a table of n regions is to be split so that each region gets an equal
// share of keys. The numbers in YCSB's keys are decimal without leading zeros, so equal shares are not equal distances:
// user10 stands before user2. Nothing is returned for one region.
func SplitKeys(n int, keys Keys) ([][]byte, error) {
	padding := max(1, keys.ZeroPadding)
	numbers := hashes
	if keys.Ordered {
		numbers = uint64(max(0, keys.Records))
	}
	switch {
	case n < 1 || n > MaxSplitRegions:
		return nil, fmt.Errorf("split keys: %d regions: choose 1 to %d", n, MaxSplitRegions)
	case keys.ZeroPadding < 0 || keys.ZeroPadding > maxZeroPadding:
		return nil, fmt.Errorf("split keys: zeropadding=%d: choose 0 to %d", keys.ZeroPadding, maxZeroPadding)
	case keys.Ordered && uint64(n) > numbers:
		return nil, fmt.Errorf("split keys: %d regions for %d ordered keys: choose at most as many regions as recordcount, or insertorder=hashed", n, keys.Records)
	}
	d := decimals{numbers: numbers, padding: padding}
	splits := make([][]byte, 0, n-1)
	for i := 1; i < n; i++ {
		high, low := bits.Mul64(numbers, uint64(i))
		rank, _ := bits.Div64(high, low, uint64(n))
		splits = append(splits, d.at(rank, numbers/uint64(n)))
	}
	return splits, nil
}

// decimals are the numbers 0 to numbers-1 as decimal strings of padding digits or more, in the order of strings.
type decimals struct {
	numbers uint64
	padding int
}

// at returns a key that has rank keys before it, exactly or to within splitError of share. It is no longer than that takes.
// The rank is neither 0 nor beyond the last.
func (d decimals) at(rank, share uint64) []byte {
	tolerance := max(1, uint64(float64(share)*splitError))
	digits, value := []byte{}, uint64(0)
	for remaining := d.numbers; rank > 0 && remaining > tolerance; {
		if d.complete(len(digits), value) { // the prefix alone comes before what it begins
			rank--
		}
		for digit := uint64(0); ; digit++ {
			with := appendDigit(value, digit)
			remaining = d.startingWith(len(digits)+1, with)
			if rank < remaining {
				digits, value = append(digits, byte('0'+digit)), with
				break
			}
			rank -= remaining
		}
	}
	return append([]byte(keyPrefix), digits...)
}

// complete says whether the number value written with length digits is one of the strings.
func (d decimals) complete(length int, value uint64) bool {
	if length < d.padding || value >= d.numbers {
		return false
	}
	return length == d.padding || length == len(strconv.FormatUint(value, 10))
}

// startingWith counts the strings that begin with the number value written with length digits.
func (d decimals) startingWith(length int, value uint64) uint64 {
	count := uint64(0)
	for total := max(length, d.padding); total <= max(d.padding, maxDigits); total++ {
		from, to := value, value+1 // to is exclusive; value is far below the largest, since numbers is
		for range total - length {
			from, to = appendDigit(from, 0), appendDigit(to, 0)
		}
		if total > d.padding { // no leading zeros
			from = max(from, powerOfTen(total-1))
		}
		if to = min(to, d.numbers); from < to {
			count += to - from
		}
	}
	return count
}

// appendDigit writes a digit behind a number. What is too large for 64 bits becomes the largest number: nothing counts
// there.
func appendDigit(value, digit uint64) uint64 {
	high, low := bits.Mul64(value, 10)
	sum, carry := bits.Add64(low, digit, 0)
	if high != 0 || carry != 0 {
		return math.MaxUint64
	}
	return sum
}

// powerOfTen is 10 to the power of n, for n below maxDigits.
func powerOfTen(n int) uint64 {
	p := uint64(1)
	for range n {
		p *= 10
	}
	return p
}
