package admin_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/hadoop-bench/operator/runner/hbase/admin"
)

func FuzzParseQueues(f *testing.F) {
	f.Add([]byte(serverBean))
	f.Add([]byte(`{"beans":[{"compactionQueueLength":1e3,"flushQueueLength":null}]}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		q, err := admin.ParseQueues(body)
		if err == nil && q.Compaction < 0 {
			t.Errorf("queues %+v of %q", q, body)
		}
	})
}

// FuzzSplitKeys: as many keys as were asked for, ascending, all of them beginnings of keys.
func FuzzSplitKeys(f *testing.F) {
	f.Add(200, false, 1, int64(0))
	f.Add(7, true, 0, int64(1000))
	f.Add(50, true, 25, int64(1)<<62)
	f.Add(3, true, 3, int64(3))
	f.Fuzz(func(t *testing.T, n int, ordered bool, padding int, records int64) {
		if n > 300 || padding > 40 {
			t.Skip("takes long")
		}
		keys, err := admin.SplitKeys(n, admin.Keys{Ordered: ordered, ZeroPadding: padding, Records: records})
		if err != nil {
			return
		}
		if len(keys) != n-1 {
			t.Fatalf("%d keys for %d regions", len(keys), n)
		}
		for i, key := range keys {
			digits, found := strings.CutPrefix(string(key), "user")
			if !found || digits == "" || strings.Trim(digits, "0123456789") != "" {
				t.Errorf("key %q", key)
			}
			if i > 0 && bytes.Compare(keys[i-1], key) >= 0 {
				t.Errorf("keys not ascending: %q", slices.Concat(keys[i-1:i+1]))
			}
		}
	})
}
