package lw

import (
	"testing"

	"github.com/seed-6d2a410a/listwatch/internal/testkit/sample"
	"github.com/stretchr/testify/require"
)

// tenFields returns a projection of the ten fields of a typical Pod table.
func tenFields(t testing.TB) RawCodec {
	return project(t, "metadata.creationTimestamp", "metadata.labels.app", "metadata.ownerReferences[*].name",
		"spec.nodeName", "spec.containers[*].image", "spec.priority", "status.phase", "status.podIP",
		"status.containerStatuses[*].ready", "status.containerStatuses[*].restartCount")
}

func project(t testing.TB, paths ...string) RawCodec {
	t.Helper()
	p, err := Project(paths...)
	require.NoError(t, err)
	return p
}

func BenchmarkProjectedEvent(b *testing.B) {
	benchmarkProjected(b, func(*Scanned) {})
}

// BenchmarkProjectedLater scans each object without a selection and projects it in a second pass.
func BenchmarkProjectedLater(b *testing.B) {
	benchmarkProjected(b, func(o *Scanned) { o.keep = nil })
}

func benchmarkProjected(b *testing.B, before func(*Scanned)) {
	text := sample.Events(7, 500)
	w, p := newWhole(text), tenFields(b)
	b.SetBytes(int64(len(text) / 500))
	b.ReportAllocs()
	for b.Loop() {
		before(&w.scanned)
		w.event(&w.scanned)
		keptObject, _ = p.Decode(&w.scanned)
	}
}

// A projected object needs two allocations: its text and the Object.
func TestProjectionAllocations(t *testing.T) {
	w, p := newWhole(sample.Events(7, 500)), tenFields(t)
	require.EqualValues(t, 2, testing.AllocsPerRun(1000, func() {
		w.event(&w.scanned)
		keptObject, _ = p.Decode(&w.scanned)
	}))
	same := p.Identity().Same
	require.Zero(t, testing.AllocsPerRun(1000, func() {
		w.event(&w.scanned)
		same(keptObject, &w.scanned)
	}))
}
