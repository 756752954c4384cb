package controllerruntime

import (
	"context"
	"math/big"
	"path"
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

// formOf names the kind of Go type that represents an object. A cache has separate informers for each of them.
func formOf(obj runtime.Object) string {
	switch obj.(type) {
	case runtime.Unstructured:
		return "unstructured"
	case *metav1.PartialObjectMetadata, *metav1.PartialObjectMetadataList:
		return "metadata"
	}
	return "typed"
}

// followers contains the informers of a cache.
type followers struct {
	mu  sync.Mutex
	all []*follower
}

func (fs *followers) add(kind schema.GroupVersionKind, form string, informer interface{ HasSynced() bool }) {
	if progress, ok := clientgo.ProgressOf(informer); ok {
		fs.mu.Lock()
		defer fs.mu.Unlock()
		fs.all = append(fs.all, &follower{kind: kind, form: form, progress: progress, writes: map[client.ObjectKey]*write{}, limit: manyWrites})
	}
}

func (fs *followers) remove(kind schema.GroupVersionKind, form string) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	fs.all = slices.DeleteFunc(fs.all, func(f *follower) bool { return f.kind == kind && f.form == form })
}

// find returns the informers for which a function returns true.
func (fs *followers) find(matches func(*follower) bool) (found []*follower) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	for _, f := range fs.all {
		if matches(f) {
			found = append(found, f)
		}
	}
	return found
}

// follower is an informer, together with the writes that its store may not contain yet.
type follower struct {
	kind     schema.GroupVersionKind
	form     string
	progress clientgo.Progress

	mu     sync.Mutex
	writes map[client.ObjectKey]*write // the last write to each object
	limit  int                         // number of writes at which those that the store contains are forgotten
	scope  *scope                      // nil until the first write
}

// manyWrites is the number of writes at which a follower first forgets those that its store contains.
const manyWrites = 128

// write describes a write to an object, so that a read can recognize a store that does not contain it.
type write struct {
	number  uint64 // counts the writes of the client
	version string // the store contains the write when it has reached this resourceVersion; "" if that is unknown
	absent  bool   // the collection no longer contains the object, because it was deleted or has left the selectors
	uid     string // of the deleted object, or ""
	seen    bool   // the store has contained an object with this UID
	asked   bool   // the server has been asked for the object
}

// unknown reports whether only the server knows the result of the write.
func (w *write) unknown() bool { return w.version == "" && !w.absent }

// pending returns the last write to an object, if the store disagrees with it. Otherwise it returns nil, and reports whether
// the object is absent, but could appear in the store for a while. It forgets a write that the store contains.
func (f *follower) pending(key client.ObjectKey) (w *write, absent bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.check(key)
}

func (f *follower) check(key client.ObjectKey) (_ *write, absent bool) {
	w := f.writes[key]
	if w == nil {
		return nil, false
	}
	uid, stored := f.progress.UID(key.Namespace, key.Name)
	switch {
	case w.version != "" && reached(f.progress.ResourceVersion(), w.version), w.seen && uid != w.uid: // the last case: the event of the deletion has arrived
		delete(f.writes, key)
		return nil, false
	case w.absent && !stored:
		return nil, true
	}
	w.seen = w.uid != "" && uid == w.uid
	found := *w
	return &found, false
}

// written returns the keys of the writes to an object, or to all objects in a namespace if the key has no name. An empty
// namespace selects all of them. A namespace does not matter if the kind has no namespaces.
func (f *follower) written(key client.ObjectKey) (keys []client.ObjectKey) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for k := range f.writes {
		if (key.Name == "" || key.Name == k.Name) && (key.Namespace == "" || k.Namespace == "" || key.Namespace == k.Namespace) {
			keys = append(keys, k)
		}
	}
	return keys
}

// record remembers a write. began is the number of writes that were complete when the request was sent. If there are many
// writes, record also forgets those that the store contains, and returns the deletions without a resourceVersion.
func (f *follower) record(key client.ObjectKey, w write, began uint64) (open []*write) {
	if state := f.progress.State(); state.Since.IsZero() || state.Phase == lw.Stopped {
		return nil // the first list will contain the write, or nobody reads the store
	}
	if _, ordered := lw.CompareResourceVersions(w.version, w.version); w.version != "" && !ordered {
		return nil // a store that is past such a resourceVersion cannot be recognized
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if earlier := f.writes[key]; earlier != nil && earlier.number > began { // the requests overlapped
		switch {
		case w.version == "" || earlier.version == "":
			w = write{number: w.number}
		case reached(earlier.version, w.version):
			w.version, w.absent = earlier.version, earlier.absent
		}
	}
	f.writes[key] = &w
	if len(f.writes) < f.limit {
		return nil
	}
	for key := range f.writes {
		if w, _ := f.check(key); w == nil && f.writes[key] != nil && f.writes[key].version == "" {
			open = append(open, f.writes[key])
		}
	}
	f.limit = max(manyWrites, 2*len(f.writes))
	return open
}

// bound gives deletions the resourceVersion of a later list, so that they can be forgotten.
func (f *follower) bound(open []*write, listed string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, w := range open {
		w.version = listed
	}
}

// answer replaces a write with the server's answer, unless there has been another write.
func (f *follower) answer(key client.ObjectKey, w write) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if asked := f.writes[key]; asked != nil && asked.number == w.number {
		f.writes[key] = &w
	}
}

// scope describes the objects that an informer follows.
type scope struct {
	root, plural string // /api or /apis/apps, for example, and "pods"
	namespace    string // "" for all
	labels       labels.Selector
	fields       fields.Selector
}

// selected returns the scope of the informer.
func (f *follower) selected(ctx context.Context) (*scope, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.scope != nil {
		return f.scope, nil
	}
	resource, version, query, err := f.progress.Collection(ctx)
	if err != nil {
		return nil, err
	}
	s := &scope{root: path.Dir(version), plural: resource.Plural, namespace: resource.Namespace}
	if s.labels, err = labels.Parse(query.Get("labelSelector")); err != nil {
		return nil, err
	}
	if s.fields, err = fields.ParseSelector(query.Get("fieldSelector")); err != nil {
		return nil, err
	}
	f.scope = s
	return s, nil
}

func (s *scope) filtered() bool { return !s.labels.Empty() || !s.fields.Empty() }

// target is the object or the collection of a request.
type target struct {
	scope       *scope
	key         client.ObjectKey
	subresource string
}

// target parses the URL path of a request. ok is false if the path belongs to another resource.
func (s *scope) target(url string) (to target, ok bool) {
	rest, ok := strings.CutPrefix(url, s.root+"/")
	parts := strings.Split(rest, "/")[1:]                                                             // without the version, because a write through any version counts
	if len(parts) > 2 && parts[0] == "namespaces" && parts[2] != "status" && parts[2] != "finalize" { // otherwise, these are subresources of a Namespace
		to.key.Namespace, parts = parts[1], parts[2:]
	}
	if !ok || len(parts) == 0 || parts[0] != s.plural {
		return to, false
	}
	parts = append(parts, "", "")
	to.scope, to.key.Name, to.subresource = s, parts[1], parts[2]
	return to, true
}

// contains reports whether the collection can contain an object, judging by its name and namespace.
func (s *scope) contains(key client.ObjectKey) bool {
	name, ok := s.fields.RequiresExactMatch("metadata.name")
	return (!ok || name == key.Name) && (s.namespace == "" || s.namespace == key.Namespace)
}

// reached reports whether a store with a resourceVersion contains the writes up to wanted.
func reached(version, wanted string) bool {
	order, ok := lw.CompareResourceVersions(version, wanted)
	return ok && order >= 0
}

// following returns the lowest resourceVersion that is newer than version.
func following(version string) string {
	number, ok := new(big.Int).SetString(version, 10)
	if !ok {
		return version + "?" // no store reaches it, so a wait for it ends with its context
	}
	return number.Add(number, big.NewInt(1)).String()
}
