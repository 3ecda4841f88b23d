package ycsb

import (
	"encoding/binary"
	"fmt"
	"os"

	"github.com/hadoop-bench/operator/runner/ycsb/generator"
)

// setKey makes the name of a key in the thread's buffer. Records that this run inserts count from RecordCount on here,
// wherever InsertBase is.
func (t *Thread) setKey(number int64) {
	c := t.workload.config
	if number >= c.RecordCount {
		number += c.InsertBase - c.RecordCount
	}
	t.key = c.AppendKey(t.key[:0], number)
	t.op.Key = t.key
}

// AppendKey appends the key of the record with a number: "user" and the number, or its hash, padded with zeros.
func (c *Config) AppendKey(b []byte, number int64) []byte {
	if !c.OrderedInserts {
		number = generator.FNV64(number)
	}
	return appendKey(b, number, c.ZeroPadding)
}

// appendKey appends "user" and a number of at least padding characters. As in YCSB, zeros go before a minus sign.
func appendKey(b []byte, number int64, padding int) []byte {
	const eight = 100_000_000
	magnitude := uint64(number)
	if number < 0 {
		magnitude = -magnitude
	}
	var digits [25]byte // one for a sign, and three times eight
	at := 1
	put8((*[8]byte)(digits[17:]), uint32(magnitude%eight))
	if rest := magnitude / eight; rest == 0 {
		at = 17
	} else {
		put8((*[8]byte)(digits[9:]), uint32(rest%eight))
		put8((*[8]byte)(digits[1:]), uint32(rest/eight))
	}
	for at < len(digits)-1 && digits[at] == '0' {
		at++
	}
	if number < 0 {
		at--
		digits[at] = '-'
	}
	b = append(b, "user"...)
	for range padding - (len(digits) - at) {
		b = append(b, '0')
	}
	return append(b, digits[at:]...)
}

// put8 writes eight digits, taking the number apart into halves, quarters and eighths side by side in one word.
func put8(b *[8]byte, number uint32) {
	halves := uint64(number/10_000) | uint64(number%10_000)<<32
	hundreds := halves * 10_486 >> 20 & 0x7f_0000_007f // each half divided by 100
	quarters := hundreds | (halves-100*hundreds)<<16
	tens := quarters * 103 >> 10 & 0xf_000f_000f_000f // each quarter divided by 10
	digits := tens | (quarters-10*tens)<<8
	binary.LittleEndian.PutUint64(b[:], digits|0x3030_3030_3030_3030)
}

// insertKey returns the key of this shard's nth insert (from 0) of the run phase. Shards take turns beyond recordcount,
// so that no two insert the same key, and beyond InsertBase in the end. (YCSB's processes all begin at recordcount.)
func (c *Config) insertKey(n int64) int64 { return c.RecordCount + c.Shard + n*c.Shards }

// A keyChooser chooses the keys of reads, updates and scans.
type keyChooser interface {
	next(r *generator.Random) int64
}

// keyChooser returns a thread's chooser: what threads can share is shared.
func (w *Workload) keyChooser() keyChooser {
	known := readable{config: w.config, inserted: w.inserted}
	switch w.config.RequestDistribution {
	case "latest":
		return &newestKeys{readable: known, latest: *w.latest}
	case "exponential":
		return exponentialKeys{readable: known, rank: w.ranks}
	}
	return drawnKeys{readable: known, keys: w.keys}
}

// keyGenerator returns the generator of keys for distributions that do not count from the newest key backwards.
func keyGenerator(c *Config) generator.Generator {
	low, high := c.InsertStart, c.InsertStart+c.InsertCount-1
	switch c.RequestDistribution {
	case "uniform":
		return generator.NewUniform(low, high)
	case "sequential":
		return generator.NewSequential(low, high)
	case "hotspot":
		return generator.NewHotspot(low, high, c.HotspotDataFraction, c.HotspotOpnFraction)
	case "zipfian":
		high += c.expectedInserts() + 1
		if c.ExactZipfian {
			return generator.NewPermuted(low, high)
		}
		return generator.NewScrambled(low, high)
	}
	return nil
}

// expectedInserts is how many keys YCSB's zipfian distribution foresees beyond those that are loaded: twice those of an
// average run, of all shards.
func (c *Config) expectedInserts() int64 {
	if !c.DoTransactions {
		return 0
	}
	return int64(float64(c.OperationCount)*c.InsertProportion*2) * c.Shards
}

// A readable tells which keys a reader may choose: those below recordcount, which the load has written, and beyond them
// those that this process inserted.
type readable struct {
	config   *Config
	inserted *generator.Acknowledged
}

func (k *readable) readable(key int64) bool {
	beyond := key - k.config.RecordCount
	if beyond < 0 {
		return true
	}
	if k.inserted == nil || beyond%k.config.Shards != k.config.Shard {
		return false
	}
	return k.inserted.Readable(beyond / k.config.Shards)
}

// count returns how many keys there are to count backwards over, inserts that failed included.
func (k *readable) count() int64 {
	if k.inserted == nil {
		return k.config.RecordCount
	}
	return k.config.RecordCount + k.inserted.Limit()
}

// newest returns the key of a rank of count, from the newest at 0 backwards: first the keys that this process inserted,
// then those of the load.
func (k *readable) newest(rank, count int64) int64 {
	if n := count - 1 - rank; n >= k.config.RecordCount {
		return k.config.insertKey(n - k.config.RecordCount)
	} else {
		return n
	}
}

// drawnKeys draws again until the key is readable.
type drawnKeys struct {
	readable
	keys generator.Generator
}

func (k drawnKeys) next(r *generator.Random) int64 {
	for {
		if key := k.keys.Next(r); k.readable.readable(key) {
			return key
		}
	}
}

// newestKeys prefers what was inserted last.
type newestKeys struct {
	readable
	latest generator.Latest
}

func (k *newestKeys) next(r *generator.Random) int64 {
	for {
		count := k.count()
		if key := k.newest(k.latest.Next(r, count), count); k.readable.readable(key) {
			return key
		}
	}
}

// exponentialKeys prefers new keys less steeply.
type exponentialKeys struct {
	readable
	rank generator.Exponential
}

func (k exponentialKeys) next(r *generator.Random) int64 {
	for {
		count, rank := k.count(), k.rank.Next(r)
		if rank >= count {
			continue
		}
		if key := k.newest(rank, count); k.readable.readable(key) {
			return key
		}
	}
}

// scanLengths returns the generator of how many records a scan reads.
func scanLengths(c *Config) generator.Generator {
	if c.ScanLengthDistribution == "zipfian" {
		return zipfianRange(c.MinScanLength, c.MaxScanLength)
	}
	return generator.NewUniform(int64(c.MinScanLength), int64(c.MaxScanLength))
}

func zipfianRange(low, high int) generator.Generator {
	return generator.Range{Low: int64(low), Rank: generator.NewZipfian(int64(high-low) + 1)}
}

// fieldLengths returns the generator of values' lengths, and the greatest it makes.
func fieldLengths(c *Config) (lengths generator.Generator, greatest int, err error) {
	switch c.FieldLengthDistribution {
	case "uniform":
		return generator.NewUniform(int64(c.MinFieldLength), int64(c.FieldLength)), c.FieldLength, nil
	case "zipfian":
		return zipfianRange(c.MinFieldLength, c.FieldLength), c.FieldLength, nil
	case "histogram":
		return histogramLengths(c)
	}
	return generator.Constant(c.FieldLength), c.FieldLength, nil
}

func histogramLengths(c *Config) (generator.Generator, int, error) {
	file, err := os.Open(c.FieldLengthHistogram)
	if err != nil {
		return nil, 0, fmt.Errorf("open the file of property fieldlengthhistogram: %w", err)
	}
	defer file.Close()
	h, err := generator.ReadHistogram(file)
	if err != nil {
		return nil, 0, fmt.Errorf("property fieldlengthhistogram: %s: %w", c.FieldLengthHistogram, err)
	}
	if h.Max() > maxRecord/int64(c.FieldCount) {
		return nil, 0, fmt.Errorf("property fieldlengthhistogram: %s has lengths up to %d, with %d fields more than %d bytes a record",
			c.FieldLengthHistogram, h.Max(), c.FieldCount, int64(maxRecord))
	}
	return h, int(h.Max()), nil
}

// mixOf returns the choice of an operation, in YCSB's order.
func mixOf(c *Config) *generator.Discrete {
	mix := &generator.Discrete{}
	mix.Add(int64(MetricRead), c.ReadProportion)
	mix.Add(int64(MetricUpdate), c.UpdateProportion)
	mix.Add(int64(MetricInsert), c.InsertProportion)
	mix.Add(int64(MetricScan), c.ScanProportion)
	mix.Add(int64(MetricReadModifyWrite), c.ReadModifyWriteProportion)
	return mix
}
