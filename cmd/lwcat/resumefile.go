package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"
)

// resumeFile is the file of --resume. The file is a log: each line has a checksum and contains printed changes. A loop
// appends the changes once a second, and compacts a long log. Only the loop uses the file, so the streams never wait
// for file operations.
type resumeFile struct {
	path      string
	server    string
	saved     map[string]*resumeEntry // state at startup, by collection
	file      *os.File
	size      int64 // size of the file in bytes, as known to this process
	compacted int64 // size of the file in bytes after the last compaction
	queue     []*resumeEntry
	progress  []*progress
	stop      chan struct{} // closed to end the loop
	done      chan struct{}
}

// openResume reads a resume file, or creates it. It removes an incomplete last line, which a killed process leaves.
func openResume(path, server string, status *status) (f *resumeFile, err error) {
	f = &resumeFile{path: path, server: server, stop: make(chan struct{}), done: make(chan struct{})}
	switch info, err := os.Stat(path); {
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("--resume: %w", err)
	case err == nil && !info.Mode().IsRegular():
		return nil, fmt.Errorf("--resume: %s is not a regular file: specify another file", path)
	case err == nil && info.Size() > maxResumeSize:
		return nil, fmt.Errorf("--resume: %s is larger than %d MiB: specify another file", path, maxResumeSize>>20)
	}
	if err := f.removeTemporary(); err != nil {
		return nil, fmt.Errorf("--resume: %w", err)
	}
	if f.file, err = os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600); err != nil {
		return nil, fmt.Errorf("--resume: %w", err)
	}
	if err := f.open(status); err != nil {
		_ = f.file.Close()
		return nil, err
	}
	return f, nil
}

func (f *resumeFile) open(status *status) error {
	header, saved, end, whole := readResume(f.file)
	switch {
	case header.Format != resumeFormat && whole != 0:
		return fmt.Errorf("--resume: %s is not a resume file, or another version of lwcat wrote it: delete the file, or specify another one", f.path)
	case whole != 0 && header.Server != f.server:
		return fmt.Errorf("--resume: %s belongs to the server %s: specify another file for %s", f.path, header.Server, f.server)
	case whole > end:
		status.logf("--resume: the last %d bytes of %s are incomplete or damaged: some events are printed again", whole-end, f.path)
	}
	f.saved, f.size = saved, end
	if err := f.file.Truncate(end); err != nil {
		return fmt.Errorf("--resume: %w", err)
	}
	return f.write(resumeLine(nil, resumeHeader{resumeFormat, f.server, time.Now()})) // reports an unwritable file at the start
}

// add adds a collection. It must be called before run.
func (f *resumeFile) add(p *progress) { f.progress = append(f.progress, p) }

// run saves the changes once a second until close is called. If another process writes to the file, run calls fail with
// errShared. If another error persists, close returns it.
func (f *resumeFile) run(fail func(error)) {
	defer close(f.done)
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case <-f.stop:
			return
		case <-tick.C:
			if err := f.save(); errors.Is(err, errShared) {
				fail(err)
				return
			}
		}
	}
}

// save appends the printed changes, and compacts a long log. Changes that cannot be written are kept for the next call.
func (f *resumeFile) save() error {
	if info, err := os.Stat(f.path); err != nil || !f.owns(info) {
		return fmt.Errorf("--resume: %s: %w", f.path, errShared)
	}
	for {
		if len(f.queue) == 0 {
			f.take()
		}
		if len(f.queue) == 0 {
			break
		}
		var lines []byte
		for _, entry := range f.queue {
			lines = resumeLine(lines, entry)
		}
		if err := f.write(lines); err != nil {
			return err
		}
		f.queue = nil
	}
	if f.size > minCompaction+2*f.compacted {
		return f.compact()
	}
	return nil
}

func (f *resumeFile) take() {
	for _, p := range f.progress {
		if entry := p.take(); entry != nil {
			f.queue = append(f.queue, entry)
		}
	}
}

// owns reports whether only this process has written to the file since opening it.
func (f *resumeFile) owns(found fs.FileInfo) bool {
	info, err := f.file.Stat()
	return err == nil && os.SameFile(found, info) && found.Size() == f.size
}

// write appends complete lines. After a failed write, it removes an incomplete line.
func (f *resumeFile) write(lines []byte) error {
	if _, err := f.file.WriteAt(lines, f.size); err != nil {
		return fmt.Errorf("--resume: %w", errors.Join(err, f.file.Truncate(f.size)))
	}
	f.size += int64(len(lines))
	return nil
}

// compact replaces the log with the state that it describes.
func (f *resumeFile) compact() error {
	f.compacted = f.size // set even if compaction fails, so that the next attempt waits until the log is longer
	_, saved, _, _ := readResume(f.file)
	lines := resumeLine(nil, resumeHeader{resumeFormat, f.server, time.Now()})
	for _, state := range saved {
		lines = resumeLine(lines, state)
	}
	err := os.WriteFile(f.temporary(), lines, 0o600)
	if err == nil {
		_ = f.file.Close() // Windows cannot replace an open file
		err = os.Rename(f.temporary(), f.path)
		file, openErr := os.OpenFile(f.path, os.O_RDWR, 0o600)
		f.file, err = file, errors.Join(err, openErr)
	}
	if err != nil {
		return fmt.Errorf("--resume: %w", errors.Join(err, f.removeTemporary()))
	}
	f.size, f.compacted = int64(len(lines)), int64(len(lines))
	return nil
}

// temporary returns the path of the file that compact writes.
func (f *resumeFile) temporary() string { return f.path + ".lwcat-tmp" }

// removeTemporary removes the temporary file of a compaction that failed or was killed.
func (f *resumeFile) removeTemporary() error {
	if err := os.Remove(f.temporary()); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// commit flushes the events of an incomplete list, and then records them as printed.
func (f *resumeFile) commit(out *printer) error {
	if err := out.print(nil, true); f == nil || err != nil {
		return err
	}
	for _, p := range f.progress {
		p.mu.Lock()
		p.commit()
		p.mu.Unlock()
	}
	return nil
}

// close ends the loop and saves the last changes.
func (f *resumeFile) close() error {
	if f == nil {
		return nil
	}
	close(f.stop)
	<-f.done
	return errors.Join(f.save(), f.file.Close())
}
