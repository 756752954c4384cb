// Package savefile saves the state of a collection to a file, so that the next process can resume from it. A file is
// replaced atomically: after a crash it holds either the previous or the new state.
//
// The package requires a file system. In a browser, use [cache.Save] and [cache.Informer.Restore] with any storage for
// bytes.
package savefile

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"
	"weak"

	"github.com/seed-6d2a410a/listwatch/cache"
	"github.com/seed-6d2a410a/listwatch/lw"
)

// Save writes a snapshot to a file and replaces its previous content. See [cache.Save]. Only the owner of the file can
// read it, because objects may be Secrets. Save first writes a temporary file in the same folder, and renames it after
// its data is on disk. If Save fails to sync the folder, the file is already replaced. After any other error, the file
// is unchanged.
//
// Several processes may save to the same path at the same time. The last process to finish wins. If a process is killed
// during Save, its temporary file remains. Save removes such a file 10 minutes after the last write to it.
func Save[T any](path string, snapshot *cache.Snapshot[T], origin string, text func(T) string) error {
	if err := replace(path, func(w io.Writer) error { return cache.Save(w, snapshot, origin, text) }); err != nil {
		return fmt.Errorf("savefile: save to %q: %w", path, err)
	}
	return nil
}

// Keep saves the state of a store at each interval until ctx is done. It then saves a last time and returns. It skips a
// save if the state has not changed since the last one, or if the first list is not complete. Each call needs its own
// path, because otherwise the calls would replace each other's files.
//
// If [Save] fails, for example because the disk is full, Keep calls report with the error and tries again after the
// next interval. It calls report in the goroutine of Keep.
//
// Run Keep in a goroutine, and wait for it before the program exits. Otherwise the last save is lost. A run that
// resumes from an older file misses no changes, but it receives some of them again. It relists if the saved
// resourceVersion has expired.
func Keep[T any](ctx context.Context, path string, store *cache.Store[T], origin string, text func(T) string, interval time.Duration, report func(error)) {
	var saved weak.Pointer[cache.Snapshot[T]] // weak, because otherwise the snapshot would keep deleted objects in memory
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for ended := false; !ended; {
		select {
		case <-tick.C:
		case <-ctx.Done():
			ended = true
		}
		snapshot := store.Snapshot()
		if weak.Make(snapshot) == saved || snapshot.ResourceVersion() == "" {
			continue
		}
		if err := Save(path, snapshot, origin, text); err != nil {
			report(err)
		} else {
			saved = weak.Make(snapshot)
		}
	}
}

// restorer declares the method of *[cache.Informer] that Restore calls.
type restorer[T lw.Keyed] interface {
	Restore(from io.Reader, origin string, parse func(text []byte) (T, error)) error
}

// Restore restores a *[cache.Informer] from a file that [Save] wrote. See [cache.Informer.Restore]. If the file does
// not exist, the error matches [os.ErrNotExist]. A caller may log an error and continue, because a run without a saved
// state starts with a list.
func Restore[T lw.Keyed](path string, to restorer[T], origin string, parse func(text []byte) (T, error)) error {
	file, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("savefile: %w", err)
	}
	defer file.Close()
	if err := to.Restore(bufio.NewReader(file), origin, parse); err != nil {
		return fmt.Errorf("savefile: restore from %q: %w", path, err)
	}
	return nil
}

// Tests replace these functions to observe the order of the calls and to inject failures.
var (
	syncFile = (*os.File).Sync
	rename   = os.Rename
)

// replace atomically replaces the content of a file with the output of write.
func replace(path string, write func(io.Writer) error) error {
	folder, name := filepath.Split(path)
	if name == "" {
		return errors.New("the path has no file name")
	}
	if folder == "" {
		folder = "."
	}
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() { // a rename would replace, for example, a device
		return errors.New("not a regular file")
	}
	removeLeftovers(folder, name)
	file, err := os.CreateTemp(folder, name+".*"+temporary) // with mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(file.Name()) // has no effect after the rename
	defer file.Close()
	if err = write(file); err != nil {
		return err
	}
	if err = syncFile(file); err != nil {
		return err
	}
	if err = file.Close(); err != nil {
		return err
	}
	if err = rename(file.Name(), path); err != nil {
		return err
	}
	return syncFolder(folder)
}

// syncFolder syncs a folder to disk if the system supports it, so that a rename survives a power failure.
func syncFolder(path string) error {
	if runtime.GOOS == "windows" { // Windows cannot sync folders
		return nil
	}
	folder, err := os.Open(path)
	if err != nil {
		return err
	}
	defer folder.Close()
	// Some network file systems cannot sync folders and return one of these two errors.
	if err := syncFile(folder); err != nil && !errors.Is(err, errors.ErrUnsupported) && !errors.Is(err, syscall.EINVAL) {
		return err
	}
	return nil
}

const (
	temporary = ".tmp"
	leftover  = 10 * time.Minute // minimum time since the last write to a leftover; a running Save writes more often
)

// removeLeftovers removes temporary files of processes that were killed during Save. Each file can be as large as the
// saved state, so a process that crashes repeatedly would fill the disk. removeLeftovers ignores errors, because the
// next Save tries again.
func removeLeftovers(folder, name string) {
	entries, _ := os.ReadDir(folder)
	for _, entry := range entries {
		if !isTemporary(entry.Name(), name) || !entry.Type().IsRegular() {
			continue
		}
		if info, err := entry.Info(); err == nil && time.Since(info.ModTime()) > leftover {
			_ = os.Remove(filepath.Join(folder, entry.Name()))
		}
	}
}

// isTemporary reports whether file is the name of a temporary file that Save renames to target. For example, Save
// writes pods.123.tmp and renames it to pods.
func isTemporary(file, target string) bool {
	number := strings.TrimSuffix(strings.TrimPrefix(file, target+"."), temporary)
	_, err := strconv.ParseUint(number, 10, 64)
	return err == nil && file == target+"."+number+temporary
}
