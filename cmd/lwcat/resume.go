package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/seed-6d2a410a/listwatch/cache"
	"github.com/seed-6d2a410a/listwatch/cache/savefile"
	"github.com/seed-6d2a410a/listwatch/cmd/lwcat/internal/output"
	"github.com/seed-6d2a410a/listwatch/lw"
)

// saveEvery is the time between two saves of the resume file. A killed run may repeat at most five seconds of
// events, so this leaves one second for the save itself.
const saveEvery = 4 * time.Second

// resumeFile is the state that --resume saves: a stub of each printed object. All collections share one store, so
// that one save replaces the file atomically. The printer's lock protects all methods except save.
type resumeFile struct {
	path    string
	server  string // URL of the server; a file of another server is rejected
	store   *cache.Store[*printed]
	writer  *cache.Writer[*printed] // changes store
	pending []*printed              // entries for events that have not been flushed yet

	saved *cache.Snapshot[*printed] // content of the file; nil before the first save
	info  fs.FileInfo               // the file after the last save, which shows whether another process has written it since
}

// printed is an entry in a resume file: a printed object, or a collection's resourceVersion.
type printed struct {
	collection string
	version    string     // resourceVersion at which the next run starts to watch, or "" if it must list
	object     *lw.Object // the printed object; nil if the entry is a collection's resourceVersion
	deleted    bool       // whether the object was printed as deleted, so that commit removes its entry
}

// key returns the entry's key in the store. The collection's name takes the place of the namespace, because a resume
// file contains several collections. The key of a collection's resourceVersion has an empty name.
func (p *printed) key() lw.Key {
	key := lw.Key{Namespace: p.collection}
	if p.object != nil {
		key.Name = lw.KeyOf(p.object).String()
	}
	return key
}

// text returns the entry as JSON. It omits the object's data, which may be secret. The next run needs only the object's
// identity and resourceVersion.
func (p *printed) text() string {
	type values = map[string]any
	entry := values{"collection": p.collection, "resourceVersion": p.version}
	if o := p.object; o != nil {
		entry["object"] = values{"kind": o.Kind(), "apiVersion": o.APIVersion(), "metadata": values{
			"namespace": o.GetNamespace(), "name": o.GetName(), "uid": o.GetUID(), "resourceVersion": o.GetResourceVersion(),
		}}
	}
	text, _ := json.Marshal(entry) // encoding strings cannot fail
	return string(text)
}

// openResume reads a resume file, or creates it.
func openResume(path, server string) (*resumeFile, error) {
	f := &resumeFile{path: path, server: server}
	f.store, f.writer = cache.NewStore((*printed).key, lw.Identity[*printed]{})
	info, err := os.Stat(path)
	var entries []*printed
	switch {
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return nil, resumeError(err)
	case err == nil && !info.Mode().IsRegular():
		return nil, fmt.Errorf("--resume: %s is not a regular file: specify another file", path)
	case err == nil && info.Size() > 0:
		if entries, err = f.read(); err != nil {
			return nil, err
		}
	}
	f.writer.Replace("0", entries...)    // "0" is a placeholder, because the entries contain the resourceVersions
	return f, f.save(f.store.Snapshot()) // saves at once, to report an unwritable file at the start
}

// read returns the entries of an existing file. [savefile.Restore] can only restore an informer, so read passes it an
// unused one and collects the entries while Restore parses them.
func (f *resumeFile) read() (entries []*printed, err error) {
	reader := cache.NewInformer[*lw.Object](nil, nil)
	err = savefile.Restore(f.path, reader, f.server, func(text []byte) (*lw.Object, error) {
		saved, err := lw.ParseValue(text)
		entry := &printed{collection: saved.Get("collection").String(), version: saved.Get("resourceVersion").String()}
		if object := saved.Get("object"); object.Exists() {
			entry.object, err = lw.ParseObject([]byte(object.Raw()))
		}
		entries = append(entries, entry)
		return nil, err
	})
	switch {
	case errors.Is(err, cache.ErrForeign):
		err = fmt.Errorf("use a separate file for each server: %w", err)
	case errors.Is(err, cache.ErrCorrupt):
		err = fmt.Errorf("%s is not a resume file, or another version of lwcat wrote it: delete it to print all objects again, or specify another file: %w", f.path, err)
	}
	return entries, resumeError(err)
}

func resumeError(err error) error {
	if err != nil {
		err = fmt.Errorf("--resume: %w", err)
	}
	return err
}

// restore returns a collection's resourceVersion and objects. found is false if no run has printed the collection.
func (f *resumeFile) restore(collection string) (version string, objects []*lw.Object, found bool) {
	for _, entry := range f.store.List() {
		switch {
		case entry.collection != collection:
			continue
		case entry.object == nil:
			version = entry.version
		default:
			objects = append(objects, entry.object)
		}
		found = true
	}
	return version, objects, found
}

// add records an event's changes, and the resourceVersion from which the next run continues. While a list is
// incomplete, the next run must start with a list, too, because a watch from the old resourceVersion would repeat
// changes that the list has already shown. The caller must call commit once the changes are written.
func (f *resumeFile) add(collection string, event *lw.Event[*lw.Object], changes []output.Event, whole bool) {
	for i := range changes {
		f.pending = append(f.pending, &printed{collection: collection, object: changes[i].Object, deleted: changes[i].Type == lw.Deleted})
	}
	version := &printed{collection: collection}
	switch event.Type {
	case lw.ListStarted:
		f.pending = append(f.pending, version)
	case lw.Added, lw.Modified, lw.Deleted, lw.Bookmark, lw.Synced:
		if version.version = event.ResourceVersion; whole && event.ResourceVersion != "" {
			f.pending = append(f.pending, version)
		}
	}
}

// commit moves the pending entries to the store. The printer calls commit after it has flushed the events of these
// entries.
func (f *resumeFile) commit() {
	for _, entry := range f.pending {
		if entry.deleted {
			f.writer.Delete(entry.key())
		} else {
			f.writer.Put(entry)
		}
	}
	clear(f.pending) // lets the garbage collector free the objects
	f.pending = f.pending[:0]
}

// errShared reports that another process has written or removed the resume file.
var errShared = errors.New("another process wrote or removed the file: use a separate file for each run")

// save replaces the file with a snapshot of the store. If another process has written the file since the last save,
// save returns errShared instead of overwriting the other run's state.
func (f *resumeFile) save(snapshot *cache.Snapshot[*printed]) error {
	if f.saved != nil {
		info, err := os.Stat(f.path)
		if err != nil || !os.SameFile(info, f.info) || !info.ModTime().Equal(f.info.ModTime()) {
			return fmt.Errorf("--resume: %s: %w", f.path, errShared)
		}
	}
	if snapshot == f.saved {
		return nil
	}
	err := savefile.Save(f.path, snapshot, f.server, (*printed).text)
	if err == nil {
		f.saved = snapshot
		f.info, err = os.Stat(f.path)
	}
	return resumeError(err)
}
