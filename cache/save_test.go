package cache

import (
	"bytes"
	"errors"
	"io"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/seed-6d2a410a/listwatch/lw"
	"github.com/stretchr/testify/require"
)

var origin = Origin{Server: "https://a.example.com", Resource: lw.Pods("shop"), LabelSelector: "app=web"}

// saved returns the saved state of a store with some objects, at version 7.
func saved(t testing.TB, words ...string) []byte {
	store, writer := NewStore[*lw.Object](nil)
	var objects []*lw.Object
	for _, word := range words {
		objects = append(objects, object(word))
	}
	writer.Replace("7", objects...)
	var out bytes.Buffer
	require.NoError(t, Save(&out, store.Snapshot(), origin, (*lw.Object).Raw))
	return out.Bytes()
}

// restore restores a state into a new reflector.
func restore(t testing.TB, from io.Reader, origin Origin) (*Reflector[*lw.Object], error) {
	t.Helper()
	r := NewReflector[*lw.Object](&script{}, nil)
	err := r.Restore(from, origin, lw.ParseObject)
	if err != nil {
		var told *restoreError
		require.ErrorAs(t, err, &told)
		require.Nil(t, r.restored, "nothing was changed")
	}
	return r, err
}

func texts(objects []*lw.Object) (texts []string) {
	for _, object := range objects {
		texts = append(texts, object.Raw())
	}
	return texts
}

// pieces is a writer that takes pieces of up to a size.
type pieces struct {
	t    *testing.T
	most int
}

func (p pieces) Write(piece []byte) (int, error) {
	require.LessOrEqual(p.t, len(piece), p.most)
	return len(piece), nil
}

// TestSaveWritesChunks: no copy of all of it is made, nor of a large object.
func TestSaveWritesChunks(t *testing.T) {
	store, writer := NewStore[*lw.Object](nil)
	writer.Replace("7", object("x@1"), object("y@2#"+strings.Repeat("u", 5*chunk)), object("z@3#"+strings.Repeat("u", 5*chunk)))
	require.NoError(t, Save(pieces{t, chunk}, store.Snapshot(), origin, (*lw.Object).Raw))
}

// TestSaveAndRestore: the objects come back to the byte and in their order, however the reader cuts them up.
func TestSaveAndRestore(t *testing.T) {
	for name, words := range map[string][]string{
		"nothing":     nil,
		"one":         {"x@1"},
		"some":        {"a/x@1#u", "b/y@2", "z@3"},
		"a large one": {"x@1", "y@2#" + strings.Repeat("u", 5*chunk), "z@3"},
	} {
		t.Run(name, func(t *testing.T) {
			text := saved(t, words...)
			var want []*lw.Object
			for _, word := range words {
				want = append(want, object(word))
			}
			for _, reader := range []io.Reader{
				bytes.NewReader(text), iotest.HalfReader(bytes.NewReader(text)), iotest.OneByteReader(bytes.NewReader(text)), iotest.DataErrReader(bytes.NewReader(text)),
			} {
				r, err := restore(t, reader, origin)
				require.NoError(t, err)
				require.Equal(t, "7", r.restored.version)
				require.Equal(t, texts(want), texts(r.restored.objects))
			}
		})
	}
}

func TestSaveEveryLength(t *testing.T) { // of an object's text, so that every number and text lies across a chunk's end once
	for n := chunk - 300; n < chunk; n++ {
		word := "x@1#" + strings.Repeat("u", n)
		r, err := restore(t, bytes.NewReader(saved(t, word, "y@2")), origin)
		require.NoError(t, err)
		require.Equal(t, texts([]*lw.Object{object(word), object("y@2")}), texts(r.restored.objects))
	}
}

// TestCutAtEveryByte: whatever is missing at the end, it is told that something is.
func TestCutAtEveryByte(t *testing.T) {
	text := saved(t, "a/x@1#u", "b/y@2", "z@3")
	for n := range text {
		_, err := restore(t, bytes.NewReader(text[:n]), origin)
		require.ErrorIs(t, err, errTruncated, "cut at byte %d", n)
	}
	_, err := restore(t, bytes.NewReader(append(text, 0)), origin)
	require.ErrorIs(t, err, ErrCorrupt, "and one byte too many")
}

// TestFlipEveryByte: each bit of it, and all: each is an error.
func TestFlipEveryByte(t *testing.T) {
	text := saved(t, "a/x@1#u", "b/y@2", "z@3")
	for i := range text {
		for _, flip := range []byte{1, 2, 4, 8, 16, 32, 64, 128, 255} {
			text[i] ^= flip
			_, err := restore(t, bytes.NewReader(text), origin)
			text[i] ^= flip
			require.Error(t, err, "byte %d, xor %d", i, flip)
			damaged := errors.Is(err, ErrCorrupt) || errors.Is(err, errTruncated) // a length that is too large ends beyond the end
			newer := errors.Is(err, errNewerFormat) && i >= len(saveMagic) && i < len(saveMagic)+4
			require.True(t, damaged || newer, "byte %d, xor %d: %v", i, flip, err)
		}
	}
}

// TestRestoreRejectsOtherOrigins: the message names what is different, before an object is read.
func TestRestoreRejectsOtherOrigins(t *testing.T) {
	text := saved(t, "x@1")
	for want, change := range map[string]func(*Origin){
		`server was "https://a.example.com", now "https://b.example.com"`: func(o *Origin) { o.Server = "https://b.example.com" },
		`resource was "shop/pods", now "pods"`:                            func(o *Origin) { o.Resource.Namespace = "" },
		`API version was "v1", now "v2"`:                                  func(o *Origin) { o.Resource.Version = "v2" },
		`label selector was "app=web", now ""`:                            func(o *Origin) { o.LabelSelector = "" },
		`field selector was "", now "spec.nodeName=n1"`:                   func(o *Origin) { o.FieldSelector = "spec.nodeName=n1" },
		`shard selector was "", now "s"`:                                  func(o *Origin) { o.ShardSelector = "s" },
		`projection was "", now "status.phase"`:                           func(o *Origin) { o.Projection = "status.phase" },
	} {
		other := origin
		change(&other)
		_, err := restore(t, io.MultiReader(bytes.NewReader(text[:len(text)-20]), iotest.ErrReader(io.ErrClosedPipe)), other)
		require.ErrorIs(t, err, ErrForeign)
		require.EqualError(t, err, "cache: cannot use the saved state: it belongs to another collection: "+want)
	}
}

func TestNewerFormat(t *testing.T) {
	text := append([]byte(saveMagic), 2, 0, 0, 0, 'n', 'e', 'w')
	_, err := restore(t, bytes.NewReader(text), origin)
	require.ErrorIs(t, err, errNewerFormat)
	require.EqualError(t, err, "cache: cannot use the saved state: it has a newer format: format 2; the latest supported is 1")
}

// TestHugeLengthsAllocateNothing: a length is a promise, and memory is only taken for what comes.
func TestHugeLengthsAllocateNothing(t *testing.T) {
	text := saved(t)
	for name, tail := range map[string][]byte{
		"a text of 1 GiB":        {0xff, 0xff, 0xff, 0x3f},
		"a text of 4 GiB":        {0xff, 0xff, 0xff, 0xff},
		"a name of nearly 1 GiB": nil,
	} {
		t.Run(name, func(t *testing.T) {
			bad := append(bytes.Clone(text[:len(saveMagic)+4]), tail...)
			if tail == nil {
				bad = append(bad, 0, 0, 0, 0x3f)
			}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err := restore(t, bytes.NewReader(bad), origin)
			runtime.ReadMemStats(&after)
			require.Error(t, err)
			require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(4*chunk))
		})
	}
}

// TestRestoreReturnsReaderErrors, and are not taken for damage.
func TestRestoreReturnsReaderErrors(t *testing.T) {
	text := saved(t, "x@1", "y@2")
	for n := range len(text) + 1 {
		_, err := restore(t, io.MultiReader(bytes.NewReader(text[:n]), iotest.ErrReader(io.ErrClosedPipe)), origin)
		require.ErrorIs(t, err, io.ErrClosedPipe)
		require.NotErrorIs(t, err, ErrCorrupt)
	}
	_, err := restore(t, iotest.ErrReader(nil), origin)
	require.ErrorIs(t, err, io.ErrNoProgress)
}

// TestRestoreReturnsParseErrors with the object's number.
func TestRestoreReturnsParseErrors(t *testing.T) {
	r := NewReflector[*lw.Object](&script{}, nil)
	picky := errors.New("not to my taste")
	err := r.Restore(bytes.NewReader(saved(t, "x@1", "y@2")), origin, func([]byte) (*lw.Object, error) { return nil, picky })
	require.ErrorIs(t, err, picky)
	require.ErrorIs(t, err, ErrCorrupt)
	require.ErrorContains(t, err, "object 0: not to my taste")
}

// brokenWriter takes some bytes and no more.
type brokenWriter struct {
	left  int
	short bool // it breaks without a word
}

func (w *brokenWriter) Write(p []byte) (int, error) {
	n := min(len(p), w.left)
	if w.left -= n; n < len(p) && !w.short {
		return n, io.ErrClosedPipe
	}
	return n, nil
}

// TestSaveReturnsWriterErrors, wherever they happen.
func TestSaveReturnsWriterErrors(t *testing.T) {
	store, writer := NewStore[*lw.Object](nil)
	require.ErrorIs(t, Save(io.Discard, store.Snapshot(), origin, (*lw.Object).Raw), ErrNotSynced)
	writer.Replace("7", object("x@1"), object("y@2#"+strings.Repeat("u", 3*chunk)))
	var whole bytes.Buffer
	require.NoError(t, Save(&whole, store.Snapshot(), origin, (*lw.Object).Raw))
	for n := 0; n < whole.Len(); n += 1 + n/50 {
		require.ErrorIs(t, Save(&brokenWriter{left: n}, store.Snapshot(), origin, (*lw.Object).Raw), io.ErrClosedPipe)
		require.ErrorIs(t, Save(&brokenWriter{left: n, short: true}, store.Snapshot(), origin, (*lw.Object).Raw), io.ErrShortWrite)
	}
}
