package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed-6d2a410a/listwatch/cmd/lwcat/internal/output"
	"github.com/seed-6d2a410a/listwatch/lw"
	"github.com/stretchr/testify/require"
)

var configMaps = lw.Resource{Version: "v1", Plural: "configmaps"}

// opened opens a resume file and returns it with the progress of one collection.
func opened(t *testing.T, path string) (*resumeFile, *progress) {
	t.Helper()
	file, err := openResume(path, "s", &status{out: t.Output()})
	require.NoError(t, err)
	return file, newProgress(file, configMaps, &resourceOptions{})
}

// printed records that an event was printed.
func printed(t *testing.T, p *progress, eventType lw.EventType, name, version string) {
	t.Helper()
	o, err := lw.ParseObject([]byte(`{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"` + name + `","uid":"u","resourceVersion":"` + version + `"}}`))
	require.NoError(t, err)
	p.record([]output.Event{{Type: eventType, Object: o}}, version, true)
}

// restored returns the saved objects and the resourceVersion, for example "a=1 b=2 @2", or "" if no state is saved.
func restored(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	copied := filepath.Join(t.TempDir(), "copy")
	require.NoError(t, os.WriteFile(copied, text, 0o600))
	file, p := opened(t, copied)
	defer file.file.Close()
	version, objects, ok, err := p.restore()
	require.NoError(t, err)
	if !ok {
		return ""
	}
	var names []string
	for _, o := range objects {
		names = append(names, o.GetName()+"="+o.GetResourceVersion())
	}
	require.Len(t, names, len(objects))
	return strings.Join(slices.Sorted(slices.Values(names)), " ") + " @" + version
}

func TestResumeFileSurvivesKillAtEveryByte(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state")
	file, p := opened(t, path)
	states := map[int64]string{file.size: ""}
	for i, name := range []string{"a", "b", "a", "c"} {
		printed(t, p, lw.Modified, name, fmt.Sprint(i+1))
		if i == 3 {
			printed(t, p, lw.Deleted, "b", "5")
		}
		require.NoError(t, file.save())
		states[file.size] = restored(t, path)
	}
	require.Equal(t, "a=3 c=4 @5", states[file.size])
	whole, err := os.ReadFile(path)
	require.NoError(t, err)
	want := ""
	cut := filepath.Join(t.TempDir(), "cut")
	for n := range whole {
		if state, ok := states[int64(n)]; ok {
			want = state
		}
		if int64(n) < int64(strings.IndexByte(string(whole), '\n')+1) {
			continue // the process was killed while creating the file
		}
		require.NoError(t, os.WriteFile(cut, whole[:n], 0o600))
		require.Equal(t, want, restored(t, cut), n)
		damaged := append([]byte(nil), whole...)
		damaged[n] ^= 1
		require.NoError(t, os.WriteFile(cut, damaged, 0o600))
		require.Equal(t, want, restored(t, cut), n)
	}
	require.NoError(t, os.WriteFile(cut, whole[:len(whole)-1], 0o600))
	file, p = opened(t, cut)
	printed(t, p, lw.Added, "d", "9")
	require.NoError(t, file.save())
	require.Equal(t, "a=3 b=2 d=9 @9", restored(t, cut), "the next run must continue after the incomplete line")
}

// TestResumeFileGrowsWithChanges checks that a change does not write the state of other objects.
func TestResumeFileGrowsWithChanges(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state")
	file, p := opened(t, path)
	for i := range 10_000 {
		printed(t, p, lw.Added, fmt.Sprint("object-", i), fmt.Sprint(i+1))
	}
	require.NoError(t, file.save())
	before := file.size
	require.NoError(t, file.save())
	require.Equal(t, before, file.size)
	printed(t, p, lw.Modified, "object-7", "10001")
	require.NoError(t, file.save())
	require.Less(t, file.size-before, int64(300))
}

func TestLongResumeFileIsCompacted(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state")
	file, p := opened(t, path)
	most := int64(0)
	for i := range 60_000 {
		printed(t, p, lw.Modified, "a", fmt.Sprint(i))
		if i%2 == 0 {
			require.NoError(t, file.save())
			most = max(most, file.size)
		}
	}
	require.NoError(t, file.save())
	require.Less(t, most, int64(minCompaction+1<<20))
	require.Less(t, file.compacted, int64(1000))
	require.Equal(t, "a=59999 @59999", restored(t, path))
	left, err := os.ReadDir(filepath.Dir(path))
	require.NoError(t, err)
	require.Len(t, left, 1)
}

func TestResumeRemovesFileOfKilledCompaction(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state")
	file, p := opened(t, path)
	printed(t, p, lw.Added, "a", "1")
	require.NoError(t, file.save())
	require.NoError(t, os.WriteFile(path+".lwcat-tmp", []byte("incomplete"), 0o600))
	file, _ = opened(t, path)
	require.NoFileExists(t, path+".lwcat-tmp")
	require.NoError(t, file.compact())
	require.Equal(t, "a=1 @1", restored(t, path))
}

// TestResumeFileIsSavedWithoutFurtherEvents checks that the last events are saved within a second, even if no more events follow.
func TestResumeFileIsSavedWithoutFurtherEvents(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state")
	synctest.Test(t, func(t *testing.T) {
		file, p := opened(t, path)
		go file.run(func(err error) { t.Error(err) })
		printed(t, p, lw.Added, "a", "1")
		time.Sleep(1100 * time.Millisecond)
		require.Equal(t, "a=1 @1", restored(t, path))
		require.NoError(t, file.close())
	})
}
