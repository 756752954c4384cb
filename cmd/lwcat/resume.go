package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/seed-6d2a410a/listwatch/cmd/lwcat/internal/output"
	"github.com/seed-6d2a410a/listwatch/lw"
)

// resumeFormat identifies the file format. Incompatible formats need a new name.
const resumeFormat = "lwcat-resume-1"

// maxResumeSize limits the size of a resume file, in bytes.
const maxResumeSize = 1 << 30

// resumeFile is the file of --resume. It stores the printed state of each collection.
type resumeFile struct {
	Format      string               `json:"format"`
	Server      string               `json:"server"`
	Collections map[string]*progress `json:"collections"` // by collectionID

	path  string
	mu    sync.Mutex
	saved time.Time
	info  fs.FileInfo // the file as this process last read or wrote it; nil before that
}

// progress is the printed state of one collection.
type progress struct {
	Kind            string                    `json:"kind"`
	APIVersion      string                    `json:"apiVersion"`
	ResourceVersion string                    `json:"resourceVersion"`
	Objects         map[string]progressObject `json:"objects"` // by key, for example "default/web-0"

	file    *resumeFile
	pending []output.Event // events that are not flushed yet
}

// progressObject is the printed version of an object.
type progressObject struct {
	UID             string `json:"uid"`
	ResourceVersion string `json:"resourceVersion"`
}

// openResume reads a resume file, or creates it if it does not exist.
func openResume(path, server string) (*resumeFile, error) {
	f := &resumeFile{path: path, saved: time.Now(), Format: resumeFormat, Server: server, Collections: map[string]*progress{}}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return f, f.save() // reports an unwritable file at the start
	case err != nil:
		return nil, fmt.Errorf("--resume: %w", err)
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("--resume: %s is not a regular file: name another file", path)
	case info.Size() > maxResumeSize:
		return nil, fmt.Errorf("--resume: %s is larger than %d MiB: name another file", path, maxResumeSize>>20)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("--resume: %w", err)
	}
	found := &resumeFile{}
	if err := json.Unmarshal(text, found); err != nil || found.Format != resumeFormat {
		return nil, fmt.Errorf("--resume: %s is not a resume file of this version: name another file, or remove it", path)
	}
	if found.Server != server {
		return nil, fmt.Errorf("--resume: %s belongs to the server %s: name another file for %s", path, found.Server, server)
	}
	f.info = info
	for id, p := range found.Collections {
		if p != nil {
			f.Collections[id] = p
		}
	}
	return f, nil
}

// collection returns the stored progress of a collection. Resources with different selectors are different collections.
func (f *resumeFile) collection(resource lw.Resource, o *resourceOptions) *progress {
	if f == nil {
		return nil
	}
	id := fmt.Sprintf("%s -l %q --field-selector %q", resource, o.labels, o.fields)
	if o.shard != "" {
		id += " --shard " + o.shard
	}
	p := f.Collections[id]
	if p == nil {
		p = &progress{}
		f.Collections[id] = p
	}
	if p.Objects == nil {
		p.Objects = map[string]progressObject{}
	}
	p.file = f
	return p
}

// hasState reports whether the file contains state to resume from.
func (p *progress) hasState() bool { return p.ResourceVersion != "" || len(p.Objects) > 0 }

// objects returns a stub of each object that was printed.
func (p *progress) objects() (all []*lw.Object, err error) {
	for key := range p.Objects {
		stub, err := newStub(key, p)
		if err != nil {
			return nil, err
		}
		all = append(all, stub)
	}
	return all, nil
}

// record adds accepted events. If written is set, it commits them with a non-empty resourceVersion. It saves the file
// at most once a second.
func (p *progress) record(seen []output.Event, version string, written bool) error {
	if p == nil {
		return nil
	}
	p.file.mu.Lock()
	defer p.file.mu.Unlock()
	p.pending = append(p.pending, seen...)
	if !written {
		return nil
	}
	news := len(p.pending) > 0 || version != ""
	p.commit()
	if version != "" {
		p.ResourceVersion = version
	}
	if news && time.Since(p.file.saved) > time.Second {
		if err := p.file.save(); errors.Is(err, errShared) {
			return err
		} // The last save reports other errors.
	}
	return nil
}

// commit applies the pending events to the objects.
func (p *progress) commit() {
	for i := range p.pending {
		o := p.pending[i].Object
		if p.pending[i].Type == lw.Deleted {
			delete(p.Objects, o.Key().String())
		} else {
			p.Kind, p.APIVersion = o.Kind(), o.APIVersion()
			p.Objects[o.Key().String()] = progressObject{UID: o.GetUID(), ResourceVersion: o.GetResourceVersion()}
		}
	}
	clear(p.pending)
	p.pending = p.pending[:0]
}

// commit records all pending events as printed.
func (f *resumeFile) commit() {
	if f == nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, p := range f.Collections {
		p.commit()
	}
}

// close saves the file for the last time.
func (f *resumeFile) close() error {
	if f == nil {
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.save()
}

// errShared reports that another process has written the resume file.
var errShared = errors.New("another lwcat process wrote to the file: use a separate file for each run")

// save replaces the file atomically with the current state.
func (f *resumeFile) save() error {
	f.saved = time.Now()
	if found, err := os.Stat(f.path); err == nil && !f.unchanged(found) {
		return fmt.Errorf("--resume: %s: %w", f.path, errShared)
	}
	text, err := json.Marshal(f)
	if err != nil {
		return err
	}
	temporary, err := os.CreateTemp(filepath.Dir(f.path), filepath.Base(f.path)+".*")
	if err != nil {
		return fmt.Errorf("--resume: %w", err)
	}
	_, err = temporary.Write(text)
	err = errors.Join(err, temporary.Close())
	if err == nil {
		err = os.Rename(temporary.Name(), f.path)
	}
	if err != nil {
		return fmt.Errorf("--resume: %w", errors.Join(err, os.Remove(temporary.Name())))
	}
	f.info, err = os.Stat(f.path)
	return err
}

// unchanged reports whether this process was the last to write the file. It compares the modification time because inode numbers
// are reused.
func (f *resumeFile) unchanged(found fs.FileInfo) bool {
	return f.info != nil && os.SameFile(found, f.info) && found.ModTime().Equal(f.info.ModTime())
}
