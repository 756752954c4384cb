package controllerruntime

import (
	"context"
	"math/big"
	"path"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/selection"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/seed-6d2a410a/listwatch/adapters/clientgo"
	"github.com/seed-6d2a410a/listwatch/lw"
)

// formOf returns the form of an object: typed, unstructured or metadata. A cache has a separate informer for each form
// of a kind.
func formOf(obj runtime.Object) string {
	switch obj.(type) {
	case runtime.Unstructured:
		return "unstructured"
	case *metav1.PartialObjectMetadata, *metav1.PartialObjectMetadataList:
		return "metadata"
	}
	return "typed"
}

// followers contains one follower for each informer of a cache. It is safe for concurrent use.
type followers struct {
	completed atomic.Uint64 // completed writes; all clients of the cache number their writes together, because they share the followers

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

func (fs *followers) remove(removed []*follower) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	fs.all = slices.DeleteFunc(fs.all, func(f *follower) bool { return slices.Contains(removed, f) })
}

// find returns the followers for which matches returns true.
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
	limit  int                         // number of writes at which record looks for writes that it can forget
	scope  *scope                      // the result of selected; nil before the first call
}

// manyWrites is the lowest value of follower.limit. The limit bounds the memory for writes to objects that are never
// read.
const manyWrites = 128

// write describes a write to an object. A read uses it to recognize whether the store contains the write.
//
// Usually the version shows this. A deletion may have no version. In that case, the store contains the deletion if it
// once contained the object with this UID and no longer does. If a write has no version and is not a deletion, a read
// asks the server.
type write struct {
	number  uint64 // position of the write among the completed writes of the cache's clients
	version string // the store contains the write when it has reached this resourceVersion; "" if that is unknown
	absent  bool   // the collection no longer contains the object, because it was deleted or no longer matches the selectors
	uid     string // of the deleted object, or "" if unknown
	seen    bool   // the store has contained the object with this UID; if it no longer does, the deletion has arrived
	asked   bool   // version and absent are the server's answer to consistentClient.ask, so reads do not ask again
}

// unknown reports whether the result of the write is unknown. A read then asks the server, because neither an event nor
// a resourceVersion can show that the store contains the write.
func (w *write) unknown() bool { return w.version == "" && !w.absent }

// pending returns a copy of the last write to an object if the store may not contain the write yet. A read must then
// wait. Otherwise, pending returns nil, and the read may use the store. If absent is true, an older event may still add
// the deleted object to the store, so the read must check that its result does not contain the object.
func (f *follower) pending(key client.ObjectKey) (w *write, absent bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.check(key)
}

// check is pending for callers that hold f.mu. It forgets a write that the store contains.
func (f *follower) check(key client.ObjectKey) (_ *write, absent bool) {
	w := f.writes[key]
	if w == nil {
		return nil, false
	}
	uid, stored := f.progress.UID(key.Namespace, key.Name)
	switch {
	case w.version != "" && reached(f.progress.ResourceVersion(), w.version), w.seen && uid != w.uid:
		// The second condition means that the event of the deletion has arrived.
		delete(f.writes, key)
		return nil, false
	case w.absent && !stored:
		return nil, true
	}
	w.seen = w.uid != "" && uid == w.uid
	found := *w
	return &found, false
}

// written returns the keys of the remembered writes that match key. A key without a name matches all names, and a key
// without a namespace matches all namespaces. Writes to cluster-scoped objects match every namespace.
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

// record remembers a write. before is the number of writes that were complete when the request was sent. When the number
// of writes reaches f.limit, record forgets the writes that the store contains. It cannot forget a deletion without a
// resourceVersion while an older event could still add the object again. It returns such deletions if their objects are
// not in the store, so that the caller can pass them to bound.
func (f *follower) record(key client.ObjectKey, w write, before uint64) (open []*write) {
	if state := f.progress.State(); state.Since.IsZero() || state.Phase == lw.Stopped {
		return nil // the informer's first list will contain the write (see firstLists), or the informer has stopped
	}
	if _, ordered := lw.CompareResourceVersions(w.version, w.version); w.version != "" && !ordered {
		return nil // the resourceVersion cannot be compared with the store's
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	// If two requests overlapped, the later response may belong to the earlier write. Only resourceVersions show the
	// order.
	if earlier := f.writes[key]; earlier != nil && earlier.number > before {
		switch {
		case w.version == "" || earlier.version == "":
			w = write{number: w.number}
		case reached(earlier.version, w.version):
			w.version, w.absent = earlier.version, earlier.absent // w has a version and therefore no uid
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
	f.limit = max(manyWrites, 2*len(f.writes)) // doubles, so that the average cost of a write stays constant
	return open
}

// bound sets the resourceVersion of deletions to listed, the resourceVersion of a later list. When the store has
// reached it, the deletions can be forgotten, because no older event can add the objects again.
func (f *follower) bound(open []*write, listed string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, w := range open {
		w.version = listed
	}
}

// answer replaces a write with the server's answer. It has no effect if a client has completed another write to the
// object since the server was asked.
func (f *follower) answer(key client.ObjectKey, w write) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if asked := f.writes[key]; asked != nil && asked.number == w.number {
		f.writes[key] = &w
	}
}

// scope describes the objects that an informer follows.
type scope struct {
	root, plural string // for example, "/apis/apps" and "deployments"
	namespace    string // "" for all
	labels       labels.Selector
	fields       fields.Selector
}

// selected returns the scope of the informer. It sends no request, so it can hold f.mu all the time.
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

// target is the object or the collection that a request addresses. A request for a collection has no name.
type target struct {
	scope       *scope
	key         client.ObjectKey
	subresource string
}

// target parses the URL path of a request. ok is false if the path does not belong to the informer's resource.
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

// contains reports whether the informer's namespace and field selector allow an object with this key. It ignores
// requirements for other fields.
func (s *scope) contains(key client.ObjectKey) bool {
	known := map[string]string{"metadata.name": key.Name, "metadata.namespace": key.Namespace}
	for _, r := range s.fields.Requirements() {
		if value, ok := known[r.Field]; ok && (value == r.Value) == (r.Operator == selection.NotEquals) {
			return false
		}
	}
	return s.namespace == "" || s.namespace == key.Namespace
}

// reached reports whether a store at the resourceVersion version contains all writes up to wanted.
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
