package cache

import (
	"bytes"
	"io"
	"testing"

	"github.com/seed-6d2a410a/listwatch/internal/testkit/sample"
	"github.com/seed-6d2a410a/listwatch/lw"
	"github.com/stretchr/testify/require"
)

const benchPods = 17000

func podStore(b *testing.B) (*Snapshot[*lw.Object], int64) {
	store, writer := NewStore(nil, lw.Identity[*lw.Object]{})
	size := 0
	for _, pod := range sample.Pods(1, benchPods) {
		object, err := lw.ParseObject([]byte(pod.JSON()))
		require.NoError(b, err)
		size += len(object.Raw())
		writer.Put(object)
	}
	writer.Replace("7", store.List()...)
	return store.Snapshot(), int64(size)
}

func BenchmarkSave(b *testing.B) {
	snapshot, size := podStore(b)
	b.SetBytes(size)
	b.ReportAllocs()
	for b.Loop() {
		require.NoError(b, Save(io.Discard, snapshot, origin, (*lw.Object).Raw))
	}
}

func BenchmarkRestore(b *testing.B) {
	snapshot, size := podStore(b)
	var text bytes.Buffer
	require.NoError(b, Save(&text, snapshot, origin, (*lw.Object).Raw))
	b.SetBytes(size)
	b.ReportAllocs()
	for b.Loop() {
		_, err := restore(b, bytes.NewReader(text.Bytes()), origin)
		require.NoError(b, err)
	}
}
