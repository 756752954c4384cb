package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/seed-6d2a410a/listwatch/cmd/lwcat/internal/output"
	"github.com/seed-6d2a410a/listwatch/lw"
)

// progress tracks the printed state of one collection.
type progress struct {
	start *resumeEntry // the state that the previous run saved; nil after the stream has restored it

	mu      sync.Mutex
	pending []output.Event // events that are not flushed yet
	changes *resumeEntry   // printed changes that are not in the file yet
}

// newProgress returns the progress of a collection. The same resource with other selectors has separate progress.
func newProgress(f *resumeFile, resource lw.Resource, o *resourceOptions) *progress {
	if f == nil {
		return nil
	}
	id := fmt.Sprintf("%s -l %q --field-selector %q", resource, o.labels, o.fields)
	p := &progress{start: f.saved[id], changes: newEntry(id)}
	delete(f.saved, id) // the progress now owns this state
	f.add(p)
	return p
}

// restore returns the resourceVersion and a stub of each object that the previous run printed. It returns ok == false
// if no run has saved a state.
func (p *progress) restore() (version string, objects []*lw.Object, ok bool, err error) {
	saved := p.start
	p.start = nil
	if saved == nil {
		return "", nil, false, nil
	}
	for key, version := range saved.Objects {
		stub, err := newStub(saved, key, version)
		if err != nil {
			return "", nil, false, err
		}
		objects = append(objects, stub)
	}
	return saved.ResourceVersion, objects, true, nil
}

// record adds events to the pending events. If written is true, it commits all pending events and stores the
// resourceVersion unless it is empty.
func (p *progress) record(seen []output.Event, version string, written bool) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.pending = append(p.pending, seen...)
	if !written {
		return
	}
	p.commit()
	if version != "" {
		p.changes.ResourceVersion = version
	}
}

// commit moves the pending events to the changes. The caller holds mu.
func (p *progress) commit() {
	for i := range p.pending {
		o := p.pending[i].Object
		if p.pending[i].Type == lw.Deleted {
			p.changes.Objects[o.Key().String()] = nil
		} else {
			p.changes.Kind, p.changes.APIVersion = o.Kind(), o.APIVersion()
			p.changes.Objects[o.Key().String()] = &objectVersion{UID: o.GetUID(), ResourceVersion: o.GetResourceVersion()}
		}
	}
	clear(p.pending)
	p.pending = p.pending[:0]
}

// take returns the changes since the last call, or nil if there are none.
func (p *progress) take() *resumeEntry {
	p.mu.Lock()
	defer p.mu.Unlock()
	taken := p.changes
	if len(taken.Objects) == 0 && taken.ResourceVersion == "" {
		return nil
	}
	p.changes = newEntry(taken.Collection)
	return taken
}

// newStub returns an object with the metadata that the file contains.
func newStub(saved *resumeEntry, key string, version *objectVersion) (*lw.Object, error) {
	var m struct {
		Kind       string `json:"kind,omitempty"`
		APIVersion string `json:"apiVersion,omitempty"`
		Metadata   struct {
			Namespace string `json:"namespace,omitempty"`
			Name      string `json:"name"`
			*objectVersion
		} `json:"metadata"`
	}
	m.Kind, m.APIVersion, m.Metadata.Name, m.Metadata.objectVersion = saved.Kind, saved.APIVersion, key, version
	if namespace, name, found := strings.Cut(key, "/"); found {
		m.Metadata.Namespace, m.Metadata.Name = namespace, name
	}
	text, err := json.Marshal(m)
	if err != nil {
		return nil, err
	}
	return lw.ParseObject(text)
}

// isStub reports whether an object is a stub. Every object from a server has a creation timestamp, but stubs have none.
func isStub(o *lw.Object) bool { return !o.Get("metadata.creationTimestamp").Exists() }

func sameVersion(a, b *lw.Object) bool {
	return a.GetUID() == b.GetUID() && a.GetResourceVersion() == b.GetResourceVersion()
}

// errShared reports that another process has written the resume file.
var errShared = errors.New("another lwcat process wrote to the file: use a separate file for each run")
