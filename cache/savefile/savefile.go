// Package savefile keeps a collection's saved state in a file, so that the next process goes on where this one ended. A
// file is replaced whole or not at all, whenever the process or the machine dies.
//
// The package needs files, and so is none for a browser: there [cache.Save] and [cache.Reflector.Restore] work on whatever
// stores bytes.
package savefile

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	"github.com/seed-6d2a410a/listwatch/cache"
	"github.com/seed-6d2a410a/listwatch/lw"
)

// Save writes a snapshot to a file in place of what it held; see [cache.Save]. Only the file's owner may read it, as
// objects may be Secrets. The text goes to a temporary file in the same folder first, and the name is given to it when all
// of it is on the disk. After an error the file is as it was before, or, where only the folder could not be written through
// to the disk, the new one.
//
// Several processes may save to the same path at the same time: the last one to finish counts.
func Save[T any](path string, snapshot *cache.Snapshot[T], origin cache.Origin, text func(T) string) error {
	if err := replace(path, func(w io.Writer) error { return cache.Save(w, snapshot, origin, text) }); err != nil {
		return fmt.Errorf("savefile: saving to %q: %w", path, err)
	}
	return nil
}

// restorer is a *[cache.Reflector] or a *[cache.Informer].
type restorer[T lw.Keyed] interface {
	Restore(from io.Reader, origin cache.Origin, parse func(text []byte) (T, error)) error
}

// Restore reads the file that Save wrote into a *[cache.Reflector] or a *[cache.Informer]. See [cache.Reflector.Restore]. Where there is no such file, the error matches
// [os.ErrNotExist]. No error needs to be more than a message: without a saved state a run begins with a list.
func Restore[T lw.Keyed](path string, to restorer[T], origin cache.Origin, parse func(text []byte) (T, error)) error {
	file, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("savefile: %w: a list takes its place", err)
	}
	defer file.Close()
	if err := to.Restore(file, origin, parse); err != nil {
		return fmt.Errorf("savefile: restoring from %q: %w", path, err)
	}
	return nil
}

// Tests replace these to observe their order, and to let them fail.
var (
	syncFile = (*os.File).Sync
	rename   = os.Rename
)

// replace makes a file hold what write writes, or leaves it as it is.
func replace(path string, write func(io.Writer) error) (err error) {
	folder, name := filepath.Split(path)
	if name == "" {
		return errors.New("the path must name a file")
	}
	if folder == "" {
		folder = "."
	}
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return errors.New("it is no file, and would be replaced by one")
	}
	removeLeftovers(folder, name)
	file, err := os.CreateTemp(folder, name+".*"+temporary) // with mode 0600
	if err != nil {
		return err
	}
	renamed := false
	defer func() { // also when write panics
		if !renamed {
			file.Close()
			os.Remove(file.Name())
		}
	}()
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
	renamed = true
	return syncFolder(folder)
}

// syncFolder writes a folder through to the disk, so that the new name outlives a loss of power, as far as the system can.
func syncFolder(path string) error {
	if runtime.GOOS == "windows" { // folders cannot be synced there
		return nil
	}
	folder, err := os.Open(path)
	if err != nil {
		return err
	}
	defer folder.Close()
	if err := syncFile(folder); err != nil && !errors.Is(err, errors.ErrUnsupported) && !errors.Is(err, syscall.EINVAL) { // some network file systems return these
		return err
	}
	return nil
}

const (
	temporary = ".tmp"
	leftover  = time.Hour // since when a file was not written that is nobody's any more: who saves, writes all the time
)

// removeLeftovers removes the temporary files of processes that died while they saved, as they would fill the disk in time.
// One that cannot be removed does no harm today.
func removeLeftovers(folder, name string) {
	entries, _ := os.ReadDir(folder)
	for _, entry := range entries {
		file := entry.Name()
		if !isTemporary(file, name) {
			continue
		}
		if info, err := entry.Info(); err == nil && info.Mode().IsRegular() && time.Since(info.ModTime()) > leftover {
			_ = os.Remove(filepath.Join(folder, file))
		}
	}
}

// isTemporary reports whether a file has the name of a temporary one of another file: name.123.tmp.
func isTemporary(file, name string) bool {
	middle, ok := strings.CutPrefix(file, name+".")
	if !ok {
		return false
	}
	number, ok := strings.CutSuffix(middle, temporary)
	return ok && number != "" && strings.Trim(number, "0123456789") == ""
}
