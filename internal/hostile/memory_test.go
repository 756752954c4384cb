package hostile

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/seed-6d2a410a/listwatch/internal/testkit/memory"
	"github.com/seed-6d2a410a/listwatch/lw"
)

// endless returns a handler that writes head and about 24 MiB of filler, and measures the heap as it writes. It does so
// for the first three requests. It resets the connections of all later requests.
func endless(heap *memory.Heap, head, filler string) func(c *call) {
	block := strings.Repeat(filler, 1<<16/len(filler)+1)
	return func(c *call) {
		if c.watches.Load()+c.listed.Load() > 3 {
			abort(c)
		}
		c.write(head)
		for i := range 24 << 20 / len(block) {
			c.write(block)
			if i%128 == 0 {
				heap.Look()
			}
		}
	}
}

// bomb returns head and about 24 MiB of filler, compressed with gzip.
func bomb(head, filler string) string {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = z.Write([]byte(head))
	block := []byte(strings.Repeat(filler, 1<<16/len(filler)))
	for range 24 << 20 / len(block) {
		_, _ = z.Write(block)
	}
	_ = z.Close()
	return b.String()
}

// TestMemoryIsBounded sends large responses to a client that accepts events of at most 1 MiB.
func TestMemoryIsBounded(t *testing.T) {
	const list = `{"kind":"ConfigMapList","apiVersion":"v1","metadata":{"resourceVersion":"5"},"items":[`
	const item = `{"metadata":{"name":"a","namespace":"shop","resourceVersion":"5"},"data":`
	for _, s := range []struct{ name, first, then string }{
		{"nested objects", list + item, `{"a":`},
		{"nested arrays", list + item, `[`},
		{"long string", list + item + `"`, `abcdefgh`},
		{"escaped characters", list + item + `"`, `\u0041`},
		{"long object name", list + `{"metadata":{"name":"`, `abcdefgh`},
		{"repeated field", list + `{"metadata":{"name":"a"`, `,"resourceVersion":"7"`},
		{"repeated items array", strings.TrimSuffix(list, `"items":[`), `"items":[],`},
		{"long resourceVersion", `{"kind":"ConfigMapList","apiVersion":"v1","metadata":{"resourceVersion":"`, `1234567890`},
		{"long continue token", `{"kind":"ConfigMapList","apiVersion":"v1","metadata":{"resourceVersion":"5","continue":"`, `1234567890`},
		{"long kind", `{"kind":"`, `ConfigMapList`},
		{"white space", " ", "\n\t  "},
		{"repeated item", list + item + `{}}`, `,` + item + `{}}`},
		{"long field name", `{"`, `abcdefgh`},
	} {
		t.Run(s.name, func(t *testing.T) {
			heap := memory.NewHeap()
			large := Scenario{Name: s.name, Does: s.name + " of 24 MiB", Lies: true, Lists: true, serve: endless(heap, s.first, s.then)}
			synctest.Test(t, func(t *testing.T) { large.run(t, early, nil) })
			require.Less(t, heap.Grown(), int64(8<<20))
			t.Logf("%d kB", heap.Grown()>>10)
		})
	}
	t.Run("gzip bomb", func(t *testing.T) {
		texts := []string{bomb(list+item+`"`, "abcdefgh"), bomb(list, " "), bomb(`{"kind":"`, "x")}
		heap := memory.NewHeap()
		s := Scenario{Name: "bomb", Does: "sends gzip bombs", Lies: true, Lists: true, network: true, serve: raw(func(c *call) {
			if c.nth <= len(texts) {
				c.reply(200, "Content-Encoding: gzip\r\n", texts[c.nth-1])
			}
			heap.Look()
		})}
		synctest.Test(t, func(t *testing.T) { s.run(t, early, nil) })
		require.Less(t, heap.Grown(), int64(8<<20))
	})
	t.Run("continue tokens", func(t *testing.T) {
		heap := memory.NewHeap()
		s := Scenario{Name: "tokens", Does: "sends continue tokens of 900 kB forever", Lies: true,
			serve: func(c *call) {
				if c.nth > 60 {
					abort(c)
				}
				c.write(List("5", fmt.Sprintf("%d%s", c.nth, strings.Repeat("x", 900_000)), []string{c.object(fmt.Sprint(c.nth), 1, 1)}))
				if c.nth%20 == 0 {
					heap.Look()
				}
			}}
		synctest.Test(t, func(t *testing.T) { s.run(t, early, &lw.Options{NoStreamingList: true, PageSize: 2}) })
		require.Less(t, heap.Grown(), int64(32<<20))
		t.Logf("%d kB", heap.Grown()>>10)
	})
}
