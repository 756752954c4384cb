package controllerruntime

import (
	"context"
	"maps"
	"math/big"
	"slices"
	"strings"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/seed-6d2a410a/listwatch/adapters/clientgo"
	"github.com/seed-6d2a410a/listwatch/lw"
)

// form is the kind of Go type that represents an object. A cache has separate informers for each form.
type form int

const (
	typed form = iota
	unstructuredForm
	metadataOnly
)

func formOf(obj runtime.Object) form {
	switch obj.(type) {
	case runtime.Unstructured:
		return unstructuredForm
	case *metav1.PartialObjectMetadata, *metav1.PartialObjectMetadataList:
		return metadataOnly
	}
	return typed
}

// followers contains the informers of a cache.
type followers struct {
	mu     sync.Mutex
	byKind map[schema.GroupKind][]*follower
}

func (fs *followers) add(kind schema.GroupVersionKind, form form, informer interface{ HasSynced() bool }) {
	progress, ok := clientgo.ProgressOf(informer)
	if !ok {
		return
	}
	fs.mu.Lock()
	defer fs.mu.Unlock()
	if fs.byKind == nil {
		fs.byKind = map[schema.GroupKind][]*follower{}
	}
	fs.byKind[kind.GroupKind()] = append(fs.byKind[kind.GroupKind()], &follower{kind: kind, form: form, progress: progress})
}

func (fs *followers) remove(kind schema.GroupVersionKind, form form) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	fs.byKind[kind.GroupKind()] = slices.DeleteFunc(slices.Clone(fs.byKind[kind.GroupKind()]), func(f *follower) bool {
		return f.kind == kind && f.form == form
	})
}

// of returns the informers of all versions and forms of a kind. The caller must not modify the slice.
func (fs *followers) of(kind schema.GroupKind) []*follower {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	return slices.Clip(fs.byKind[kind])
}

// follower is an informer, together with the writes that its store may not contain yet.
type follower struct {
	kind     schema.GroupVersionKind
	form     form
	progress clientgo.Progress

	mu     sync.Mutex
	writes map[client.ObjectKey]*write
	limit  int    // number of writes at which the settled ones are removed
	scope  *scope // nil until the first write
}

// write describes the last known write to an object, so that a read can recognize a store that does not contain it.
type write struct {
	number  uint64 // counts the writes of the client
	version string // resourceVersion that the store must reach, or ""
	// gone is true if the collection no longer contains the object, because it was deleted or has left the selector. Until the
	// store has reached the resourceVersion final, a stored object with this name is outdated. final is "" if it is unknown.
	gone  bool
	final string
	// uid identifies the deleted object. If the store has contained it (seen), but no longer does, the deletion has arrived.
	uid  string
	seen bool
	// unknown is true if the response did not describe the object, so that only the server knows the result.
	unknown bool
	asked   bool // the server has been asked for the object
}

// merge combines w with an earlier write that may have happened after w, because the requests overlapped.
func (w *write) merge(earlier *write) {
	w.version = newer(w.version, earlier.version)
	switch {
	case !earlier.gone:
	case !w.gone:
		w.gone, w.final, w.uid, w.seen = true, earlier.final, earlier.uid, earlier.seen
	case w.final == "" || earlier.final == "":
		w.final = ""
	default:
		w.final = newer(w.final, earlier.final)
	}
	w.unknown = w.unknown || earlier.unknown
}

// settle reports whether the store contains the result of w, now and in future (done), or whether only its present state
// agrees with w, because it has no object with this name (absent).
func (w *write) settle(key client.ObjectKey, store clientgo.Progress) (done, absent bool) {
	version := store.ResourceVersion()
	switch {
	case w.unknown || !reached(version, w.version):
		return false, false
	case !w.gone || w.final != "" && reached(version, w.final):
		return true, false
	}
	uid, stored := store.UID(key.Namespace, key.Name)
	if stored && uid == w.uid {
		w.seen = true
		return false, false
	}
	return w.seen, !stored
}

// pending describes the writes that a read must wait for.
type pending struct {
	key     client.ObjectKey   // of one of the writes; the name is empty if there are none
	version string             // the next resourceVersion that can settle a write
	unasked *client.ObjectKey  // a write for which the server has not been asked
	unknown bool               // the server must be asked at once
	absent  []client.ObjectKey // objects that the read must not return, because they are gone
}

// pending returns the writes to an object, or to all objects in a namespace if the key has no name, that the store does not
// contain. An empty namespace selects all of them. It forgets the writes that the store contains.
func (f *follower) pending(key client.ObjectKey) (p pending) {
	f.mu.Lock()
	defer f.mu.Unlock()
	check := func(key client.ObjectKey, w *write) {
		done, absent := w.settle(key, f.progress)
		switch {
		case done:
			delete(f.writes, key)
			return
		case absent:
			p.absent = append(p.absent, key)
			return
		}
		p.key = key
		if !w.asked && (p.unasked == nil || w.unknown) {
			p.unasked, p.unknown = &key, w.unknown
		}
		if !reached(f.progress.ResourceVersion(), w.version) {
			p.version = newer(p.version, w.version)
		}
	}
	if key.Name != "" {
		if w := f.writes[key]; w != nil {
			check(key, w)
		}
	} else {
		for k, w := range f.writes {
			if key.Namespace == "" || key.Namespace == k.Namespace {
				check(k, w)
			}
		}
	}
	if p.version == "" {
		p.version = following(f.progress.ResourceVersion())
	}
	return p
}

func (f *follower) empty() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.writes) == 0
}

// record remembers a write. began is the number of writes that were complete when the request was sent. has contains the
// labels of the object, or is nil if they are unknown.
func (f *follower) record(ctx context.Context, key client.ObjectKey, w write, began uint64, has map[string]string) {
	if state := f.progress.State(); state.Since.IsZero() || state.Phase == lw.Stopped {
		return // the first list will contain the write, or nobody reads the store
	}
	if _, ordered := lw.CompareResourceVersions(w.version, w.version); w.version != "" && !ordered {
		return // a store that is past such a resourceVersion cannot be recognized
	}
	scope := f.selected(ctx)
	if !scope.contains(key) {
		return
	}
	if has != nil && !w.gone && !scope.labels.Matches(labels.Set(has)) {
		w.gone, w.final, w.version = true, w.version, ""
	}
	if scope.filtered {
		w.uid, w.seen = "", false // the object may leave the collection and come back before its deletion
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if earlier := f.writes[key]; earlier != nil && earlier.number > began {
		w.merge(earlier)
	}
	if len(f.writes) >= f.limit {
		maps.DeleteFunc(f.writes, func(key client.ObjectKey, w *write) bool {
			done, _ := w.settle(key, f.progress)
			return done
		})
		f.limit = max(64, 2*len(f.writes))
	}
	if f.writes == nil {
		f.writes = map[client.ObjectKey]*write{}
	}
	f.writes[key] = &w
}

// answer updates the write to an object after the server has been asked. listed is the resourceVersion of the server's
// list, and version that of the object, or "" if the list does not contain the object. number identifies the last write
// before the request.
func (f *follower) answer(key client.ObjectKey, number uint64, listed, version string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	w := f.writes[key]
	switch {
	case w == nil || w.number > number:
	case version == "":
		*w = write{number: w.number, gone: true, final: listed, uid: w.uid, seen: w.seen, asked: true}
	case w.gone || w.unknown || !reached(version, w.version): // the last case: the server was restored from a backup
		*w = write{number: w.number, version: version, asked: true}
	default:
		w.asked = true
	}
}

// unbounded is the number of deletions without a known resourceVersion at which the server is asked for one.
const unbounded = 128

// bound gives the deletions that have no known resourceVersion one that is not older, so that they can be forgotten. list
// returns the present resourceVersion of the collection.
func (f *follower) bound(list func() (string, error)) {
	var waiting []*write
	f.mu.Lock()
	for _, w := range f.writes {
		if w.gone && w.final == "" {
			waiting = append(waiting, w)
		}
	}
	f.mu.Unlock()
	if len(waiting) < unbounded {
		return
	}
	listed, err := list()
	if err != nil {
		return // the next deletion tries again
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, w := range waiting {
		w.final = listed
	}
}

// scope describes the objects that an informer follows.
type scope struct {
	namespace string // "" for all
	labels    labels.Selector
	fields    fields.Selector
	filtered  bool // there is a label or field selector
}

// selected returns the scope of the informer. If the informer cannot tell it, the scope contains everything.
func (f *follower) selected(ctx context.Context) *scope {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.scope != nil {
		return f.scope
	}
	all := &scope{labels: labels.Everything(), fields: fields.Everything(), filtered: true}
	path, query, err := f.progress.Collection(ctx)
	if err != nil {
		return all
	}
	if parts := strings.Split(path, "/"); len(parts) > 3 && parts[len(parts)-3] == "namespaces" {
		all.namespace = parts[len(parts)-2]
	}
	if selector, err := labels.Parse(query.Get("labelSelector")); err == nil {
		all.labels = selector
	}
	if selector, err := fields.ParseSelector(query.Get("fieldSelector")); err == nil {
		all.fields = selector
	}
	all.filtered = !all.labels.Empty() || !all.fields.Empty()
	f.scope = all
	return all
}

// contains reports whether the collection can contain an object, judging by its name and namespace.
func (s *scope) contains(key client.ObjectKey) bool {
	if s.namespace != "" && s.namespace != key.Namespace {
		return false
	}
	has := fields.Set{"metadata.name": key.Name, "metadata.namespace": key.Namespace}
	for _, r := range s.fields.Requirements() {
		if value, known := has[r.Field]; known && (value == r.Value) == (r.Operator == "!=") {
			return false
		}
	}
	return true
}

// covers reports whether a read of an object, or of a namespace if the key has no name, reads from the informer.
func (s *scope) covers(key client.ObjectKey) bool {
	return s.namespace == "" || key.Namespace == "" || s.namespace == key.Namespace
}

// reached reports whether a store with a resourceVersion contains the writes up to wanted.
func reached(version, wanted string) bool {
	if wanted == "" || version == wanted {
		return true
	}
	order, ok := lw.CompareResourceVersions(version, wanted)
	return ok && order > 0
}

// newer returns the newer of two resourceVersions. Both may be "".
func newer(a, b string) string {
	if reached(a, b) {
		return a
	}
	return b
}

// following returns the lowest resourceVersion that is newer than version.
func following(version string) string {
	number, ok := new(big.Int).SetString(version, 10)
	if !ok {
		return version + "?" // no store reaches it, so a wait for it ends with its context
	}
	return number.Add(number, big.NewInt(1)).String()
}
