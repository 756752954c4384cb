package savefile

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed-6d2a410a/listwatch/cache"
	"github.com/seed-6d2a410a/listwatch/lw"
	"github.com/stretchr/testify/require"
)

const origin = "https://a.example.com pods"

// pods returns a snapshot with one object. The JSON of the object is slightly longer than size bytes.
func pods(t testing.TB, version string, size int) *cache.Snapshot[*lw.Object] {
	store, writer := cache.NewStore(nil, lw.Identity[*lw.Object]{})
	object, err := lw.ParseObject([]byte(`{"metadata":{"name":"web-0","resourceVersion":"` + version + `","uid":"` + strings.Repeat("u", size) + `"}}`))
	require.NoError(t, err)
	writer.Replace(version, object)
	return store.Snapshot()
}

// target is a restorer that records the JSON text of each object.
type target struct{ strings []string }

func (to *target) Restore(from io.Reader, origin string, parse func([]byte) (*lw.Object, error)) error {
	return cache.NewInformer(offline{}, nil).Restore(from, origin, func(text []byte) (*lw.Object, error) {
		to.strings = append(to.strings, string(text))
		return parse(text)
	})
}

// held returns the JSON text of the only object in a file.
func held(t testing.TB, path string) string {
	to := &target{}
	require.NoError(t, Restore(path, to, origin, lw.ParseObject))
	require.Len(t, to.strings, 1)
	return to.strings[0]
}

func text(snapshot *cache.Snapshot[*lw.Object]) string {
	return slices.Collect(snapshot.All())[0].Raw()
}

func names(t testing.TB, folder string) (names []string) {
	entries, err := os.ReadDir(folder)
	require.NoError(t, err)
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	return names
}

func TestSaveAndRestore(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "pods")
	for _, version := range []string{"7", "8"} {
		snapshot := pods(t, version, 100)
		require.NoError(t, Save(path, snapshot, origin, (*lw.Object).Raw))
		require.Equal(t, text(snapshot), held(t, path))
		require.Equal(t, []string{"pods"}, names(t, folder))
	}
	info, err := os.Stat(path)
	require.NoError(t, err)
	if runtime.GOOS != "windows" {
		require.Equal(t, os.FileMode(0o600), info.Mode(), "only the owner may read the file, because objects may be Secrets")
	}
	t.Chdir(folder)
	require.NoError(t, Save("here", pods(t, "9", 1), origin, (*lw.Object).Raw), "Save must accept a path without a folder")
	held(t, "here")
}

func TestMissingFile(t *testing.T) {
	err := Restore(filepath.Join(t.TempDir(), "pods"), &target{}, origin, lw.ParseObject)
	require.ErrorIs(t, err, os.ErrNotExist)
	err = Save(filepath.Join(t.TempDir(), "none", "pods"), pods(t, "7", 1), origin, (*lw.Object).Raw)
	require.ErrorIs(t, err, os.ErrNotExist)
}

// Restore must reject files that were truncated at any byte, and files saved from another collection.
func TestDamagedFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pods")
	require.NoError(t, Save(path, pods(t, "7", 10), origin, (*lw.Object).Raw))
	whole, err := os.ReadFile(path)
	require.NoError(t, err)
	err = Restore(path, &target{}, "https://a.example.com shop/pods", lw.ParseObject)
	require.ErrorIs(t, err, cache.ErrForeign)
	require.ErrorContains(t, err, strconv.Quote(path), "the error must contain the path")
	for n := len(whole) - 1; n >= 0; n-- {
		require.NoError(t, os.Truncate(path, int64(n)))
		require.ErrorIs(t, Restore(path, &target{}, origin, lw.ParseObject), cache.ErrCorrupt)
	}
}

// A failed save must keep the old file and must not leave a temporary file behind.
func TestFailedSaveKeepsOldFile(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "pods")
	old := pods(t, "7", 100)
	require.NoError(t, Save(path, old, origin, (*lw.Object).Raw))
	var whole bytes.Buffer
	require.NoError(t, cache.Save(&whole, pods(t, "8", 100), origin, (*lw.Object).Raw))
	diskFull := errors.New("the disk is full")
	for n := range whole.Len() + 1 {
		err := replace(path, func(w io.Writer) error {
			_, err := w.Write(whole.Bytes()[:n])
			require.NoError(t, err)
			return diskFull
		})
		require.Equal(t, diskFull, err)
		require.Equal(t, text(old), held(t, path))
		require.Equal(t, []string{"pods"}, names(t, folder))
	}
	store, _ := cache.NewStore(nil, lw.Identity[*lw.Object]{})
	err := Save(path, store.Snapshot(), origin, (*lw.Object).Raw)
	require.ErrorContains(t, err, "the first list is not complete")
	require.ErrorContains(t, err, "savefile: save to \""+path+"\"")
	require.ErrorContains(t, Save("", store.Snapshot(), origin, (*lw.Object).Raw), "no file name")
	require.Panics(t, func() { _ = Save(path, old, origin, func(*lw.Object) string { panic("text failed") }) })
	require.Equal(t, text(old), held(t, path))
	require.Equal(t, []string{"pods"}, names(t, folder))
}

func TestFailedRename(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "pods")
	err := replace(path, func(w io.Writer) error { return w.(io.Closer).Close() })
	require.ErrorIs(t, err, os.ErrClosed)
	require.Empty(t, names(t, folder))
	err = replace(path, func(io.Writer) error { return os.MkdirAll(filepath.Join(path, "within"), 0o700) })
	require.Error(t, err, "replacing a folder must fail")
	require.Equal(t, []string{"pods"}, names(t, folder))
	require.ErrorContains(t, Save(path, pods(t, "7", 1), origin, (*lw.Object).Raw), "not a regular file")
}

// A later save must remove the temporary files of killed processes, but not a file that another save is still writing.
func TestLeftovers(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "pods")
	long := time.Now().Add(-leftover - time.Minute)
	files := map[string]bool{ // the value is true if the file must remain
		"pods.123.tmp": false, "pods.456.tmp": true, "pods.x.123.tmp": true, "pods..tmp": true, "pods.123": true, "other.123.tmp": true, "pods.12x.tmp": true,
	}
	for name := range files {
		require.NoError(t, os.WriteFile(filepath.Join(folder, name), []byte("listwatch st"), 0o600))
		if name != "pods.456.tmp" { // the file pods.456.tmp keeps its recent modification time
			require.NoError(t, os.Chtimes(filepath.Join(folder, name), long, long))
		}
	}
	require.NoError(t, os.Mkdir(filepath.Join(folder, "pods.789.tmp"), 0o700))
	snapshot := pods(t, "7", 1)
	require.NoError(t, Save(path, snapshot, origin, (*lw.Object).Raw))
	require.Equal(t, text(snapshot), held(t, path))
	for name, stays := range files {
		require.Equal(t, stays, exists(filepath.Join(folder, name)), name)
	}
	require.True(t, exists(filepath.Join(folder, "pods.789.tmp")))
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// A reader must always find a complete state.
func TestConcurrentSaves(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "pods")
	known := map[string]bool{}
	var snapshots []*cache.Snapshot[*lw.Object]
	for _, version := range []string{"7", "8", "9"} {
		snapshots = append(snapshots, pods(t, version, 100_000))
		known[text(snapshots[len(snapshots)-1])] = true
	}
	require.NoError(t, Save(path, snapshots[0], origin, (*lw.Object).Raw))
	var group sync.WaitGroup
	for _, snapshot := range snapshots {
		group.Go(func() {
			for range 10 {
				if err := Save(path, snapshot, origin, (*lw.Object).Raw); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for range 50 {
		require.True(t, known[held(t, path)])
	}
	group.Wait()
	require.Equal(t, []string{"pods"}, names(t, folder))
}

// offline is a source for an informer that sends no requests.
type offline struct{ lw.ListerWatcher[*lw.Object] }

func (offline) Source() *lw.Source[*lw.Object] { return nil }
