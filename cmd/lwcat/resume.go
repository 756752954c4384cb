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

// resumeFormat identifies the file format. An incompatible format gets another name.
const resumeFormat = "lwcat-resume-1"

// maxResumeSize is the largest resume file that is read, in bytes.
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
	Objects         map[string]progressObject `json:"objects"` // by key, as "default/web-0"

	file    *resumeFile
	pending []output.Event // events that are not flushed yet
}

// progressObject is the printed version of an object.
type progressObject struct {
	UID             string `json:"uid"`
	ResourceVersion string `json:"resourceVersion"`
}

// openResume reads a file of --resume, if it is there.
func openResume(path, server string) (*resumeFile, error) {
	f := &resumeFile{path: path, saved: time.Now(), Format: resumeFormat, Server: server, Collections: map[string]*progress{}}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return f, f.save() // what cannot be written is better known now than at the end
	case err != nil:
		return nil, fmt.Errorf("--resume: %w", err)
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("--resume: %s is no file that can be replaced: name another one", path)
	case info.Size() > maxResumeSize:
		return nil, fmt.Errorf("--resume: %s is larger than %d MiB: name another one", path, maxResumeSize>>20)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("--resume: %w", err)
	}
	found := &resumeFile{}
	if err := json.Unmarshal(text, found); err != nil || found.Format != resumeFormat {
		return nil, fmt.Errorf("--resume: %s was not written by --resume, or by another version: name another one, or remove it", path)
	}
	if found.Server != server {
		return nil, fmt.Errorf("--resume: %s is of the server %s: name another one for %s", path, found.Server, server)
	}
	f.info = info
	for id, p := range found.Collections {
		if p != nil {
			f.Collections[id] = p
		}
	}
	return f, nil
}

// collection returns what is kept of a collection, which is told apart by its resource and selectors.
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

// record adds accepted events. If flushed is set, it commits them together with a non-empty resourceVersion, and saves the file
// at most once a second.
func (p *progress) record(seen []output.Event, version string, written bool) error {
	if p == nil {
		return nil
	}
	p.file.mu.Lock()
	defer p.file.mu.Unlock()
	if p.pending = append(p.pending, seen...); !written {
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
		} // of others the last save's counts
	}
	return nil
}

// commit applies the pending events.
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

// errShared reports that another process has written the resume file. The first process to notice exits.
var errShared = errors.New("another lwcat has written it since: give each a file of its own")

// save replaces the file by what is known now, whole or not at all.
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
	if err = errors.Join(err, temporary.Close()); err == nil {
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
