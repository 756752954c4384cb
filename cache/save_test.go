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

const origin = "https://a.example.com shop/pods"

// saved saves a store with the given objects at resourceVersion 7, and returns the saved state.
func saved(t testing.TB, words ...string) []byte {
	store, writer := NewStore(nil, lw.Identity[*lw.Object]{})
	var objects []*lw.Object
	for _, word := range words {
		objects = append(objects, object(word))
	}
	writer.Replace("7", objects...)
	var out bytes.Buffer
	require.NoError(t, Save(&out, store.Snapshot(), origin, (*lw.Object).Raw))
	return out.Bytes()
}

// restore restores a saved state into a new informer. It returns the informer and the error.
func restore(t testing.TB, from io.Reader, origin string) (*Informer[*lw.Object], error) {
	t.Helper()
	r := NewInformer[*lw.Object](&script{}, nil)
	err := r.Restore(from, origin, lw.ParseObject)
	if err != nil {
		var got *wrapped
		require.ErrorAs(t, err, &got)
		require.Nil(t, r.restored, "a failed Restore must not change the informer")
	}
	return r, err
}

func texts(objects []*lw.Object) (texts []string) {
	for _, object := range objects {
		texts = append(texts, object.Raw())
	}
	return texts
}

// pieces is a writer that fails the test if a write is larger than limit bytes.
type pieces struct {
	t     *testing.T
	limit int
}

func (p pieces) Write(piece []byte) (int, error) {
	require.LessOrEqual(p.t, len(piece), p.limit)
	return len(piece), nil
}

func TestSaveWritesChunks(t *testing.T) {
	store, writer := NewStore(nil, lw.Identity[*lw.Object]{})
	writer.Replace("7", object("x@1"), object("y@2#"+strings.Repeat("u", 5*chunk)), object("z@3#"+strings.Repeat("u", 5*chunk)))
	require.NoError(t, Save(pieces{t, chunk}, store.Snapshot(), origin, (*lw.Object).Raw))
}

// Restored objects must have the saved bytes and order, whatever the size of each read.
func TestSaveAndRestore(t *testing.T) {
	for name, words := range map[string][]string{
		"no objects":      nil,
		"one object":      {"x@1"},
		"several objects": {"a/x@1#u", "b/y@2", "z@3"},
		"large object":    {"x@1", "y@2#" + strings.Repeat("u", 5*chunk), "z@3"},
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

func TestSaveEveryLength(t *testing.T) { // the loop moves every number and string across a chunk boundary
	for n := chunk - 300; n < chunk; n++ {
		word := "x@1#" + strings.Repeat("u", n)
		r, err := restore(t, bytes.NewReader(saved(t, word, "y@2")), origin)
		require.NoError(t, err)
		require.Equal(t, texts([]*lw.Object{object(word), object("y@2")}), texts(r.restored.objects))
	}
}

func TestRestoreRejectsTruncatedState(t *testing.T) {
	text := saved(t, "a/x@1#u", "b/y@2", "z@3")
	for n := range text {
		_, err := restore(t, bytes.NewReader(text[:n]), origin)
		require.ErrorIs(t, err, ErrCorrupt)
		require.ErrorContains(t, err, "it is truncated", "Restore must reject a state truncated at byte %d", n)
	}
}

// Every flipped bit and every inverted byte must cause an error.
func TestRestoreDetectsFlippedBits(t *testing.T) {
	text := saved(t, "a/x@1#u", "b/y@2", "z@3")
	for i := range text {
		for _, flip := range []byte{1, 2, 4, 8, 16, 32, 64, 128, 255} {
			text[i] ^= flip
			_, err := restore(t, bytes.NewReader(text), origin)
			text[i] ^= flip
			require.Error(t, err, "Restore must reject a change in byte %d (XOR %d)", i, flip)
			require.ErrorIs(t, err, ErrCorrupt, "wrong error for a change in byte %d (XOR %d): %v", i, flip, err)
			newer := strings.Contains(err.Error(), "it has format")
			require.True(t, !newer || i >= len(saveMagic) && i < len(saveMagic)+4, "wrong error for a change in byte %d (XOR %d): %v", i, flip, err)
		}
	}
}

// The error message must name the string that differs. Restore must return the error before it reads any object.
func TestRestoreRejectsOtherOrigins(t *testing.T) {
	text := saved(t, "x@1")
	for want, c := range map[string]struct {
		origin string
		opts   lw.Options
	}{
		`origin was "https://a.example.com shop/pods", now "b"`: {origin: "b"},
		`label selector was "", now "app=web"`:                  {origin, lw.Options{LabelSelector: "app=web"}},
		`field selector was "", now "spec.nodeName=n1"`:         {origin, lw.Options{FieldSelector: "spec.nodeName=n1"}},
	} {
		from := io.MultiReader(bytes.NewReader(text[:len(text)-20]), iotest.ErrReader(io.ErrClosedPipe))
		err := NewInformer[*lw.Object](nil, &c.opts).Restore(from, c.origin, lw.ParseObject)
		require.ErrorIs(t, err, ErrForeign)
		require.EqualError(t, err, "cache: cannot use the saved state: it belongs to another collection: "+want)
	}
}

// Save writes the selectors of the store's source. An informer with the same selectors can restore the state.
func TestRestoreAcceptsSameSelectors(t *testing.T) {
	opts := &lw.Options{LabelSelector: "app=web", FieldSelector: "spec.nodeName=n1"}
	r := NewInformer[*lw.Object](nil, opts)
	(&Writer[*lw.Object]{r.store}).Replace("7", object("x@1"))
	var text bytes.Buffer
	require.NoError(t, Save(&text, r.Store().Snapshot(), origin, (*lw.Object).Raw))
	require.NoError(t, NewInformer[*lw.Object](nil, opts).Restore(bytes.NewReader(text.Bytes()), origin, lw.ParseObject))
	require.ErrorIs(t, NewInformer[*lw.Object](nil, nil).Restore(&text, origin, lw.ParseObject), ErrForeign)
}

func TestNewerFormat(t *testing.T) {
	text := append([]byte(saveMagic), 2, 0, 0, 0, 'n', 'e', 'w')
	_, err := restore(t, bytes.NewReader(text), origin)
	require.ErrorIs(t, err, ErrCorrupt)
	require.EqualError(t, err, "cache: cannot use the saved state: it has format 2; the latest supported format is 1")
}

// A declared length must not cause an allocation before the data arrives.
func TestHugeLengthsAllocateNothing(t *testing.T) {
	text := saved(t)
	for name, tail := range map[string][]byte{
		"string of 1 GiB":      {0xff, 0xff, 0xff, 0x3f},
		"string of 4 GiB":      {0xff, 0xff, 0xff, 0xff},
		"name of almost 1 GiB": nil,
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

func TestRestoreReturnsReaderErrors(t *testing.T) {
	text := saved(t, "x@1", "y@2")
	for n := range text {
		_, err := restore(t, io.MultiReader(bytes.NewReader(text[:n]), iotest.ErrReader(io.ErrClosedPipe)), origin)
		require.ErrorIs(t, err, io.ErrClosedPipe)
		require.NotErrorIs(t, err, ErrCorrupt)
	}
}

// The error must contain the position of the object in the saved state.
func TestRestoreReturnsParseErrors(t *testing.T) {
	r := NewInformer[*lw.Object](&script{}, nil)
	errUnsupported := errors.New("unsupported object")
	err := r.Restore(bytes.NewReader(saved(t, "x@1", "y@2")), origin, func([]byte) (*lw.Object, error) { return nil, errUnsupported })
	require.ErrorIs(t, err, errUnsupported)
	require.ErrorIs(t, err, ErrCorrupt)
	require.EqualError(t, err, "cache: cannot use the saved state: it contains an object that cannot be decoded: object 0: unsupported object")
}

// brokenWriter fails after a given number of bytes.
type brokenWriter struct {
	left  int
	short bool // Write returns a short count without an error
}

func (w *brokenWriter) Write(p []byte) (int, error) {
	n := min(len(p), w.left)
	if w.left -= n; n < len(p) && !w.short {
		return n, io.ErrClosedPipe
	}
	return n, nil
}

func TestSaveReturnsWriterErrors(t *testing.T) {
	store, writer := NewStore(nil, lw.Identity[*lw.Object]{})
	require.ErrorIs(t, Save(io.Discard, store.Snapshot(), origin, (*lw.Object).Raw), errNotSynced)
	writer.Replace("7", object("x@1"), object("y@2#"+strings.Repeat("u", 3*chunk)))
	var whole bytes.Buffer
	require.NoError(t, Save(&whole, store.Snapshot(), origin, (*lw.Object).Raw))
	for n := 0; n < whole.Len(); n += 1 + n/50 {
		require.ErrorIs(t, Save(&brokenWriter{left: n}, store.Snapshot(), origin, (*lw.Object).Raw), io.ErrClosedPipe)
		require.ErrorIs(t, Save(&brokenWriter{left: n, short: true}, store.Snapshot(), origin, (*lw.Object).Raw), io.ErrShortWrite)
	}
}
