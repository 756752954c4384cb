package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-6d2a410a/listwatch/lwtest"
	"github.com/stretchr/testify/require"
)

// fullDisk is a writer that fails after capacity bytes.
type fullDisk struct{ capacity int }

func (f *fullDisk) Write(p []byte) (int, error) {
	n := min(len(p), f.capacity)
	f.capacity -= n
	if n < len(p) {
		return n, errors.New("no space left")
	}
	return n, nil
}

// TestResumeRepeatsUnwrittenEvents checks that the next run prints events that could not be written.
func TestResumeRepeatsUnwrittenEvents(t *testing.T) {
	for _, capacity := range []int{0, 300} {
		server := start(t, nil)
		path := filepath.Join(t.TempDir(), "state")
		for _, name := range []string{"a", "b", "c"} {
			create(t, server, "configmaps", named(name))
		}
		args := []string{"-s", server.URL, "cm", "--resume", path, "--once"}
		var errs lockedBuffer
		require.Equal(t, exitError, run(t.Context(), args, &fullDisk{capacity}, &errs, false))
		require.Contains(t, errs.String(), "no space left")
		code, out, _ := lwcat(t, args...)
		require.Equal(t, exitDone, code)
		require.Equal(t, 3, strings.Count(out, "\n"), out)

		create(t, server, "configmaps", named("d"))
		require.Equal(t, exitError, run(t.Context(), args, &fullDisk{}, &errs, false))
		_, out, _ = lwcat(t, args...)
		require.Equal(t, 1, strings.Count(out, "\n"), out)
	}
}

// A relist reports all deletions with the same resourceVersion. If --count ends the run in between, the next run
// must still print the remaining deletions, so the file must not yet contain this resourceVersion.
func TestResumePrintsRestOfPartlyPrintedRelist(t *testing.T) {
	server := start(t, nil)
	path := filepath.Join(t.TempDir(), "state")
	names := []string{"a", "b", "c"}
	for _, name := range names {
		create(t, server, "configmaps", named(name))
	}
	args := []string{"-s", server.URL, "cm", "--resume", path, "-o", "name", "--output-watch-events", "--timeout", "1m"}
	code, _, errs := lwcat(t, append(args, "--once")...)
	require.Equal(t, exitDone, code, errs)
	for _, name := range names {
		require.NoError(t, server.Delete("configmaps", "default", name))
	}
	server.Compact()
	var deleted []string
	for range names {
		code, out, errs := lwcat(t, append(args, "--count", "1")...)
		require.Equal(t, exitDone, code, errs)
		deleted = append(deleted, strings.TrimSpace(out))
	}
	require.ElementsMatch(t, []string{"DELETED  configmap/a", "DELETED  configmap/b", "DELETED  configmap/c"}, deleted)
}

// TestResumeFileIsNotShared checks that a run exits after another run has written to its resume file.
func TestResumeFileIsNotShared(t *testing.T) {
	server := start(t, nil)
	path := filepath.Join(t.TempDir(), "state")
	create(t, server, "configmaps", named("a"))
	ctx, stop := context.WithCancelCause(t.Context())
	var out, errs lockedBuffer
	ended := make(chan int)
	args := []string{"-s", server.URL, "cm", "--resume", path, "-o", "name"}
	go func() { ended <- run(ctx, append(args, "-v"), &out, &errs, false) }()
	eventually(t, "the list message", func() bool { return strings.Contains(errs.String(), "listed at resourceVersion") }) // by now the resume file is complete
	require.Equal(t, "configmap/a\n", out.String())
	code, _, said := lwcat(t, append(args, "--once")...)
	require.Equal(t, exitDone, code, said)
	kept, err := os.ReadFile(path)
	require.NoError(t, err)
	stop(errInterrupted)
	require.Equal(t, exitError, <-ended)
	require.Contains(t, errs.String(), path+": another process wrote or removed the file")
	left, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, string(kept), string(left))
}

func TestRejectsOtherFilesForResume(t *testing.T) {
	server := start(t, nil)
	folder := t.TempDir()
	path := filepath.Join(folder, "state")
	for name, content := range map[string]string{
		"an older format": `00000000 {"format":"lwcat-resume-2","server":"http://127.0.0.1:1"}` + "\n",
		"zero bytes":      strings.Repeat("\x00", 1<<20),
		"text":            "some text",
	} {
		require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
		code, out, errs := lwcat(t, "-s", server.URL, "cm", "--resume", path, "--once")
		require.Equal(t, exitError, code, name)
		require.Contains(t, errs, "lwcat: --resume: "+path+" is not a resume file, or another version of lwcat wrote it: delete it to print all objects again, or specify another file", name)
		require.Empty(t, out)
		kept, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Equal(t, content, string(kept), name)
	}
	code, _, errs := lwcat(t, "-s", server.URL, "cm", "--resume", folder, "--once")
	require.Equal(t, exitError, code)
	require.Contains(t, errs, "is not a regular file")
	require.NoError(t, os.WriteFile(path, nil, 0o600))
	code, _, errs = lwcat(t, "-s", server.URL, "cm", "--resume", path, "--once")
	require.Equal(t, exitDone, code, "an empty file is a new file: %s", errs)
	code, _, errs = lwcat(t, "-s", start(t, nil).URL, "cm", "--resume", path, "--once")
	require.Equal(t, exitError, code)
	require.Contains(t, errs, "--resume: use a separate file for each server")
	require.Contains(t, errs, server.URL, "the message must name the server of the file")
}

// An object from the previous run may have been deleted since, so --until must not hold before the server confirms
// it.
func TestUntilIgnoresUnconfirmedObjects(t *testing.T) {
	t.Parallel()
	for _, condition := range []string{"exists", ".metadata.name=a", "all .metadata.name=a"} {
		t.Run(condition, func(t *testing.T) {
			t.Parallel()
			server := start(t, nil)
			create(t, server, "configmaps", named("a"))
			args := []string{"-s", server.URL, "cm/a", "-o", "name", "--output-watch-events", "--resume", filepath.Join(t.TempDir(), "state")}
			code, _, errs := lwcat(t, append(args, "--once")...)
			require.Equal(t, exitDone, code, errs)
			require.NoError(t, server.Delete("configmaps", "default", "a"))
			code, out, _ := lwcat(t, append(args, "--until", condition, "--once")...)
			require.Equal(t, exitTimeout, code, "the object does not exist")
			require.Equal(t, "DELETED  configmap/a\n", out)

			create(t, server, "configmaps", named("a"))
			code, out, errs = lwcat(t, append(args, "--until", condition)...)
			require.Equal(t, exitDone, code, errs)
			require.Equal(t, "ADDED    configmap/a\n", out)
			code, out, errs = lwcat(t, append(args, "--until", condition)...)
			require.Equal(t, exitDone, code, errs)
			require.Empty(t, out, "the previous run has printed the object")

			server.Fail(func(r lwtest.Request) bool { return lwtest.Lists(r) || lwtest.Watches(r) }, -1, lwtest.Stall())
			code, out, _ = lwcat(t, append(args, "--until", condition, "--timeout", "100ms")...)
			require.Equal(t, exitTimeout, code, "the server has not confirmed that the object exists")
			require.Empty(t, out)
		})
	}
}
