package cache

import (
	"bytes"
	"context"
	"hash/crc32"
	"strconv"
	"testing"

	"github.com/seed-6d2a410a/listwatch/lw"
	"github.com/stretchr/testify/require"
)

func TestRestoredRunResumes(t *testing.T) {
	withFixture(t, func(t *testing.T, s *fixture) {
		require.NoError(t, s.informer.Restore(bytes.NewReader(saved(t, "x@1", "y@2")), origin, lw.ParseObject))
		require.Zero(t, s.store.Len(), "the store must be empty before the run")
		var types []lw.EventType
		s.onEvent = func(event lw.Event[*lw.Object], _ []Change[*lw.Object]) bool {
			types = append(types, event.Type)
			require.True(t, len(types) != 5 || event.ResourceVersion == "7", "the watch must start from resourceVersion 7, not %s", event.ResourceVersion)
			return true
		}
		require.Equal(t, "+x@1 +y@2 restored ~x@1>8 -y@9", s.run("watch ~x@8 -y@9"))
		require.Equal(t, []lw.EventType{lw.ListStarted, lw.Added, lw.Added, lw.Restored, lw.WatchStarted, lw.Modified, lw.Deleted, lw.Interrupted}, types[:8])
		require.Equal(t, "+z@11", s.run("watch +z@11"), "the second run must not restore the state again")
	})
}

func TestRestoredObjects(t *testing.T) {
	withFixture(t, func(t *testing.T, s *fixture) {
		s.informer.RestoreObjects("7", []*lw.Object{object("x@1"), object("y@2")})
		require.Equal(t, "+x@1 +y@2 restored ~x@1>8", s.run("watch ~x@8"))
	})
}

func TestRestoreDoesNotBufferState(t *testing.T) {
	var words []string
	for n := range 10_000 {
		words = append(words, "x"+strconv.Itoa(n)+"@1")
	}
	in := decoder{reader: bytes.NewReader(saved(t, words...)), table: crc32.MakeTable(crc32.Castagnoli)}
	_, count := in.header(collection{origin})
	for range count {
		in.string()
	}
	in.checksum()
	require.NoError(t, in.err)
	require.LessOrEqual(t, cap(in.buf), chunk)
}

// Restore must reject a string length of 1 GiB or more without reading the string.
func TestRestoreRejectsLongStrings(t *testing.T) {
	_, err := restore(t, bytes.NewReader(append(head(1), 0xff, 0xff, 0xff, 0x3f)), origin)
	require.ErrorIs(t, err, ErrCorrupt)
	require.ErrorContains(t, err, "truncated")
	_, err = restore(t, bytes.NewReader(append(head(1), 0, 0, 0, 0x40)), origin)
	require.ErrorIs(t, err, ErrCorrupt)
}

func TestExpiredRestoreYieldsDifferences(t *testing.T) {
	withFixture(t, func(t *testing.T, s *fixture) {
		require.NoError(t, s.informer.Restore(bytes.NewReader(saved(t, "x@1", "y@2", "z@3")), origin, lw.ParseObject))
		require.Equal(t, "+x@1 +y@2 +z@3 restored ~y@2>8 -z@3? ok", s.run("watch !expired", "list@9 x@1 y@8"))
	})
}

// If a run ends during the replay, the next run must repeat the replay.
func TestRestoredRunStopsDuringReplay(t *testing.T) {
	for stop := range 4 {
		withFixture(t, func(t *testing.T, s *fixture) {
			require.NoError(t, s.informer.Restore(bytes.NewReader(saved(t, "x@1", "y@2")), origin, lw.ParseObject))
			n := -1
			s.onEvent = func(lw.Event[*lw.Object], []Change[*lw.Object]) bool { n++; return n < stop }
			first := s.run()
			s.onEvent = nil
			second := s.run("watch =8")
			require.Equal(t, []string{"", "+x@1", "+x@1 +y@2", "+x@1 +y@2 restored"}[stop], first)
			require.Equal(t, []string{"+x@1 +y@2 restored", "+y@2 restored", "restored", ""}[stop], second)
		})
	}
	withFixture(t, func(t *testing.T, s *fixture) {
		require.NoError(t, s.informer.Restore(bytes.NewReader(saved(t, "x@1", "y@2")), origin, lw.ParseObject))
		ctx, cancel := context.WithCancel(t.Context())
		n := 0
		for range s.informer.Follow(ctx) {
			n++
			cancel()
		}
		cancel()
		require.Equal(t, 1, n, "no event may follow the cancellation")
	})
}

// If the loop body breaks during the replay, the run must not send a request.
func TestBreakDuringReplay(t *testing.T) {
	for stop := 1; stop <= 4; stop++ {
		r := NewInformer[*lw.Object](&script{t: t, end: func() { t.Error("the informer must not send a request") }}, plainLists())
		r.RestoreObjects("7", []*lw.Object{object("x@1"), object("y@2")})
		seen := 0
		for range r.Follow(t.Context()) {
			seen++
			if seen == stop {
				break
			}
		}
		require.Equal(t, stop, seen)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	r := NewInformer[*lw.Object](&script{}, plainLists())
	r.RestoreObjects("7", []*lw.Object{object("x@1")})
	for event := range r.Follow(ctx) {
		if event.Type == lw.Added {
			cancel()
		}
		require.NotEqual(t, lw.Synced, event.Type, "no event may follow the cancellation")
	}
	require.NotNil(t, r.restored, "the next run must restore the state")
}

func TestRunDuringRestorePanics(t *testing.T) {
	r := NewInformer[*lw.Object](&script{}, nil)
	require.NoError(t, r.Restore(bytes.NewReader(saved(t, "x@1")), origin, func(text []byte) (*lw.Object, error) {
		require.PanicsWithValue(t, "cache: Run or Follow called before the previous run ended", func() { _ = r.Run(t.Context()) })
		return lw.ParseObject(text)
	}))
}

func TestRestoreAfterRunReplacesObjects(t *testing.T) {
	withFixture(t, func(t *testing.T, s *fixture) {
		require.Equal(t, "+x@3 +z@4 ok", s.run("list@4 x@3 z@4"))
		require.NoError(t, s.informer.Restore(bytes.NewReader(saved(t, "x@1", "y@2")), origin, lw.ParseObject))
		require.Equal(t, "~x@3>1 +y@2 -z@4? restored", s.run("watch"))
	})
}

func TestRestoreWhileRunningPanics(t *testing.T) {
	withFixture(t, func(t *testing.T, s *fixture) {
		s.onEvent = func(lw.Event[*lw.Object], []Change[*lw.Object]) bool {
			require.PanicsWithValue(t, "cache: Restore called before the previous run ended", func() {
				_ = s.informer.Restore(bytes.NewReader(nil), origin, lw.ParseObject)
			})
			require.Panics(t, func() { s.informer.RestoreObjects("7", nil) })
			return true
		}
		s.run("list@1 x@1")
	})
}

func TestFailedRestoreLists(t *testing.T) {
	withFixture(t, func(t *testing.T, s *fixture) {
		text := saved(t, "x@1")
		require.ErrorIs(t, s.informer.Restore(bytes.NewReader(text[:len(text)-1]), origin, lw.ParseObject), ErrCorrupt)
		require.Equal(t, "+x@1 ok", s.run("list@8 x@1"))
	})
}

func TestSaveDuringListKeepsCompleteState(t *testing.T) {
	withFixture(t, func(t *testing.T, s *fixture) {
		s.run("list@3 x@1 y@2")
		var text bytes.Buffer
		s.onEvent = func(event lw.Event[*lw.Object], _ []Change[*lw.Object]) bool {
			if event.Type == lw.Added {
				require.NoError(t, Save(&text, s.store.Snapshot(), origin, (*lw.Object).Raw))
			}
			return event.Type != lw.Added
		}
		s.run("list@9 x@8 z@7")
		r, err := restore(t, &text, origin)
		require.NoError(t, err)
		require.Equal(t, "3", r.restored.version)
		require.Equal(t, texts([]*lw.Object{object("x@1"), object("y@2")}), texts(r.restored.objects))
	})
}

type pair struct{ name, version string }

func (p pair) GetNamespace() string       { return "" }
func (p pair) GetName() string            { return p.name }
func (p pair) GetResourceVersion() string { return p.version }

func TestSaveOtherTypes(t *testing.T) {
	store, writer := NewStore(nil, lw.Identity[pair]{})
	writer.Replace("7", pair{"x", "1"}, pair{"y", "2"})
	var text bytes.Buffer
	require.NoError(t, Save(&text, store.Snapshot(), origin, func(p pair) string { return p.name + "@" + p.version }))
	r := NewInformer[pair](nil, nil)
	require.NoError(t, r.Restore(&text, origin, func(text []byte) (pair, error) {
		name, version, _ := bytes.Cut(text, []byte("@"))
		return pair{string(name), string(version)}, nil
	}))
	require.Equal(t, []pair{{"x", "1"}, {"y", "2"}}, r.restored.objects)
}

// If the checksums of a state are valid, Restore must either return an error or restore as many objects as the header
// declares.
func FuzzRestore(f *testing.F) {
	for _, words := range [][]string{nil, {"x@1"}, {"a/x@1#u", "b/y@2", "z@3"}} {
		text := saved(f, words...)
		head := len(saved(f))
		f.Add(text, uint8(0), true)
		f.Add(text[:len(text)/2], uint8(0), true)
		f.Add(text[head-4:len(text)-4], uint8(len(words)), false)
	}
	f.Fuzz(func(t *testing.T, text []byte, count uint8, raw bool) {
		if !raw {
			text = summed(append(head(count), text...))
		}
		r, err := restore(t, bytes.NewReader(text), origin)
		if err != nil {
			return
		}
		require.True(t, raw || len(r.restored.objects) == int(count))
		read := len(r.restored.objects)
		require.True(t, r.replay(t.Context(), new(lw.Trace), func(event lw.Event[*lw.Object]) bool { applyAll(r.store, event); return true }))
		require.LessOrEqual(t, r.store.Len(), read)
	})
}

// head returns the header of a saved state that declares count objects.
func head(count uint8) []byte {
	text := saved(nil)
	text = text[:len(text)-8-8]
	return summed(append(text, count, 0, 0, 0, 0, 0, 0, 0))
}

func summed(text []byte) []byte {
	sum := crc32.Checksum(text, crc32.MakeTable(crc32.Castagnoli))
	return append(text, byte(sum), byte(sum>>8), byte(sum>>16), byte(sum>>24))
}

// RestoreObjects and NewInformer must copy the slice and the options, so that the caller may modify them later.
func TestRestoreObjectsCopiesSlice(t *testing.T) {
	opts := &lw.Options{PageSize: 7}
	r := NewInformer[*lw.Object](nil, opts)
	objects := []*lw.Object{object("x@1")}
	r.RestoreObjects("7", objects)
	opts.PageSize, objects[0] = 1, object("y@1")
	require.Equal(t, 7, r.opts.PageSize)
	require.Equal(t, "x", r.restored.objects[0].GetName())
}
