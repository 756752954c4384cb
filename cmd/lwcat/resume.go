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

// resumeFormat is what a file of --resume begins with. Another form is another format.
const resumeFormat = "lwcat-resume-1"

// mostResumed is the size of a file that is read, in bytes: of some millions of objects.
const mostResumed = 1 << 30

// resume is the file of --resume: how far each collection was printed.
type resume struct {
	Format      string           `json:"format"`
	Server      string           `json:"server"`
	Collections map[string]*kept `json:"collections"` // by collectionID

	path  string
	mu    sync.Mutex
	saved time.Time
	ours  fs.FileInfo // the file as we read or wrote it; nil before there is one
}

// kept is how far one collection was printed.
type kept struct {
	Kind            string                `json:"kind"`
	APIVersion      string                `json:"apiVersion"`
	ResourceVersion string                `json:"resourceVersion"`
	Objects         map[string]keptObject `json:"objects"` // by key, as "default/web-0"

	file    *resume
	waiting []output.Event // what is not out yet
}

// keptObject is how an object was printed last.
type keptObject struct {
	UID             string `json:"uid"`
	ResourceVersion string `json:"resourceVersion"`
}

// openResume reads a file of --resume, if it is there.
func openResume(path, server string) (*resume, error) {
	r := &resume{path: path, saved: time.Now(), Format: resumeFormat, Server: server, Collections: map[string]*kept{}}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return r, r.save() // what cannot be written is better known now than at the end
	case err != nil:
		return nil, fmt.Errorf("--resume: %w", err)
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("--resume: %s is no file that can be replaced: name another one", path)
	case info.Size() > mostResumed:
		return nil, fmt.Errorf("--resume: %s is larger than %d MiB: name another one", path, mostResumed>>20)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("--resume: %w", err)
	}
	found := &resume{}
	if err := json.Unmarshal(text, found); err != nil || found.Format != resumeFormat {
		return nil, fmt.Errorf("--resume: %s was not written by --resume, or by another version: name another one, or remove it", path)
	}
	if found.Server != server {
		return nil, fmt.Errorf("--resume: %s is of the server %s: name another one for %s", path, found.Server, server)
	}
	r.ours = info
	for id, k := range found.Collections {
		if k != nil {
			r.Collections[id] = k
		}
	}
	return r, nil
}

// collection returns what is kept of a collection, which is told apart by its resource and selectors.
func (r *resume) collection(resource lw.Resource, w *what) *kept {
	if r == nil {
		return nil
	}
	id := fmt.Sprintf("%s -l %q --field-selector %q", resource, w.labels, w.fields)
	if w.shard != "" {
		id += " --shard " + w.shard
	}
	k := r.Collections[id]
	if k == nil {
		k = &kept{}
		r.Collections[id] = k
	}
	if k.Objects == nil {
		k.Objects = map[string]keptObject{}
	}
	k.file = r
	return k
}

// known reports whether there is anything to go on from.
func (k *kept) known() bool { return k.ResourceVersion != "" || len(k.Objects) > 0 }

// objects returns a stub of each object that was printed.
func (k *kept) objects() (all []*lw.Object, err error) {
	for key := range k.Objects {
		stub, err := stubOf(key, k)
		if err != nil {
			return nil, err
		}
		all = append(all, stub)
	}
	return all, nil
}

// note notes what is known of objects now, and, if that is all that happened up to a version, the version. It is saved now and
// then, and at the end. What is not written yet waits until it is: if that fails, it comes again next time.
func (k *kept) note(seen []output.Event, version string, written bool) error {
	if k == nil {
		return nil
	}
	k.file.mu.Lock()
	defer k.file.mu.Unlock()
	if k.waiting = append(k.waiting, seen...); !written {
		return nil
	}
	news := len(k.waiting) > 0 || version != ""
	k.take()
	if version != "" {
		k.ResourceVersion = version
	}
	if news && time.Since(k.file.saved) > time.Second {
		if err := k.file.save(); errors.Is(err, errShared) {
			return err
		} // of others the last save's counts
	}
	return nil
}

// take takes what waited.
func (k *kept) take() {
	for i := range k.waiting {
		o := k.waiting[i].Object
		if k.waiting[i].Type == lw.Deleted {
			delete(k.Objects, o.Key().String())
		} else {
			k.Kind, k.APIVersion = o.Kind(), o.APIVersion()
			k.Objects[o.Key().String()] = keptObject{UID: o.GetUID(), ResourceVersion: o.GetResourceVersion()}
		}
	}
	clear(k.waiting)
	k.waiting = k.waiting[:0]
}

// written says that all is out.
func (r *resume) written() {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, k := range r.Collections {
		k.take()
	}
}

// finish saves the file for the last time.
func (r *resume) finish() error {
	if r == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.save()
}

// errShared says that another run writes the same file. Whoever finds out leaves it to the other.
var errShared = errors.New("another lwcat has written it since: give each a file of its own")

// save replaces the file by what is known now, whole or not at all.
func (r *resume) save() error {
	r.saved = time.Now()
	if found, err := os.Stat(r.path); err == nil && !r.isOurs(found) {
		return fmt.Errorf("--resume: %s: %w", r.path, errShared)
	}
	text, err := json.Marshal(r)
	if err != nil {
		return err
	}
	temporary, err := os.CreateTemp(filepath.Dir(r.path), filepath.Base(r.path)+".*")
	if err != nil {
		return fmt.Errorf("--resume: %w", err)
	}
	_, err = temporary.Write(text)
	if err = errors.Join(err, temporary.Close()); err == nil {
		err = os.Rename(temporary.Name(), r.path)
	}
	if err != nil {
		return fmt.Errorf("--resume: %w", errors.Join(err, os.Remove(temporary.Name())))
	}
	r.ours, err = os.Stat(r.path)
	return err
}

// isOurs reports whether a file is the one that we read or wrote last. Its number alone may have been given to another.
func (r *resume) isOurs(found fs.FileInfo) bool {
	return r.ours != nil && os.SameFile(found, r.ours) && found.ModTime().Equal(r.ours.ModTime())
}
