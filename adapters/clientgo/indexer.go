package clientgo

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/tools/cache"

	lwcache "github.com/seed-6d2a410a/listwatch/cache"
	"github.com/seed-6d2a410a/listwatch/lw"
)

// errReadOnly is returned by all methods that would modify the store.
var errReadOnly = errors.New("clientgo: the store of an informer is read-only: write objects through the API server")

// indexer implements [cache.Indexer] on an informer's store. Each informer has two indexers, which share the store and
// the indexes. The first returns decoded structs. The second may return handles, for readers that copy each object
// anyway.
type indexer struct {
	informer *informer
	store    *lwcache.Store[*object]
	copying  bool // whether to return a *handle, which decodes the object only when the reader copies it; see CopyingReaders

	*indexSet
}

// indexSet contains the indexes of an informer. Both indexers of the informer share it.
type indexSet struct {
	mu     sync.RWMutex
	byName map[string]index                           // indexes from AddIndexers
	labels map[string]*lwcache.Index[*object, string] // indexes from byLabel, by key of the label

	maxLabelEntries int // the constant, except in tests
}

// index is an index that AddIndexers has created, together with the caller's index function.
type index struct {
	of cache.IndexFunc
	*lwcache.Index[*object, string]
}

func newIndexer(i *informer) *indexer {
	return &indexer{
		informer: i, store: i.inner.Store(),
		indexSet: &indexSet{byName: map[string]index{}, labels: map[string]*lwcache.Index[*object, string]{}, maxLabelEntries: maxLabelEntries},
	}
}

// read returns a stored object in the form that the indexer's readers expect: a *handle or a decoded struct. For a *handle,
// it returns an error only if an earlier copy could not be decoded. If shared is set, the copies that a *handle makes share
// nested values with the copies of other readers. Decoded structs are always shared.
func (x *indexer) read(o *object, shared bool) (any, error) {
	if x.copying {
		return x.informer.decoder.handle(o, shared)
	}
	return x.informer.decoder.read(o, true) // keeps the struct for a while, because it may be read again soon
}

func (x *indexer) Add(any) error               { return errReadOnly }
func (x *indexer) Update(any) error            { return errReadOnly }
func (x *indexer) Delete(any) error            { return errReadOnly }
func (x *indexer) Replace([]any, string) error { return errReadOnly }

// Resync does nothing, as in client-go.
func (x *indexer) Resync() error { return nil }

// Bookmark does nothing, because the informer already passes all resourceVersions to the store.
func (x *indexer) Bookmark(string) {}

func (x *indexer) LastStoreSyncResourceVersion() string { return x.store.ResourceVersion() }

// List implements [cache.Store]. It reports and omits objects that read cannot return.
func (x *indexer) List() []any { return x.readAll(x.store.List(), false) }

// ListKeys implements [cache.Store]. It does not decode objects.
func (x *indexer) ListKeys() []string { return keysOf(x.store.List()) }

func keysOf(objects []*object) []string {
	keys := make([]string, len(objects))
	for n, o := range objects {
		keys[n] = o.Key().String()
	}
	return keys
}

func (x *indexer) Get(obj any) (item any, exists bool, err error) {
	key, err := cache.DeletionHandlingMetaNamespaceKeyFunc(obj)
	if err != nil {
		return nil, false, cache.KeyError{Obj: obj, Err: err}
	}
	return x.GetByKey(key)
}

// GetByKey implements [cache.Store]. It returns an error if the object cannot be decoded.
func (x *indexer) GetByKey(key string) (item any, exists bool, err error) {
	key, shared := strings.CutSuffix(key, sharedSuffix)
	namespace, name, _ := cache.SplitMetaNamespaceKey(key) // both are empty if the key is malformed
	o, ok := x.store.Get(lw.Key{Namespace: namespace, Name: name})
	if !ok {
		return nil, false, nil
	}
	if item, err = x.read(o, shared); err != nil {
		return nil, false, fmt.Errorf("object %s: %w", key, err)
	}
	return item, true, nil
}

func (x *indexer) Index(name string, obj any) ([]any, error) {
	index, err := x.find(name)
	if err != nil {
		return nil, err
	}
	values, err := index.of(structOf(obj))
	if err != nil {
		return nil, err
	}
	seen := sets.New[*object]()
	for _, value := range values {
		seen.Insert(index.List(value)...)
	}
	return x.readAll(seen.UnsortedList(), false), nil
}

// ByIndex implements [cache.Indexer]. The name may also be that of a [LabelField] or a [SharedField].
// controller-runtime's cache prepends "field:" to the name of a field, and the namespace and a slash to its value.
func (x *indexer) ByIndex(name, value string) ([]any, error) {
	key, labeled := strings.CutPrefix(name, "field:"+labelField)
	key, shared := strings.CutPrefix(key, "field:"+sharedField)
	if labeled || shared {
		namespace, value, _ := strings.Cut(value, "/")
		return x.readAll(x.byLabel(key, value, namespace), shared), nil
	}
	index, err := x.find(name)
	if err != nil {
		return nil, err
	}
	return x.readAll(index.List(value), false), nil
}

// controller-runtime's cache passes only an object's name or a field selector to an indexer. Therefore a reader adds
// these strings to the name or the field, to request shared values or to select objects by a label.
const (
	labelField   = "listwatch.label:"
	sharedField  = "listwatch.shared:"
	sharedSuffix = "\x00shared"
)

// LabelField returns the name of a field that stands for a label in a field selector for controller-runtime's cache.
// This package's informers build an index when the field is first used.
func LabelField(key string) string { return labelField + key }

// SharedField is like [LabelField], but readers of an informer with CopyingReaders share nested values of the objects. With
// an empty key, the field selects all objects, and its value must be empty.
func SharedField(key string) string { return sharedField + key }

// SharedName returns another name for the object with this name. With it, a reader of an informer with CopyingReaders
// gets an object that shares nested values with other readers.
func SharedName(name string) string { return name + sharedSuffix }

const (
	// allNamespaces stands for all namespaces in the index values that controller-runtime's cache uses.
	allNamespaces = "__all_namespaces"

	// maxLabelIndexes limits the number of label indexes of an informer, because each event has to update all of them. For
	// other labels, the reader compares the labels of all objects.
	maxLabelIndexes = 8

	// maxLabelEntries limits the memory of all label indexes of an informer together. Before byLabel builds an index, it
	// counts one entry per stored object for each index, including the new one. An entry takes at most about 100 bytes.
	maxLabelEntries = 1_000_000
)

// byLabel returns the objects in a namespace that have a label with this key and this value. It does not decode objects.
// If the key has no index yet, byLabel builds one. If the key is empty or the limits above do not permit another index,
// byLabel returns all objects in the namespace.
func (x *indexer) byLabel(key, value, namespace string) []*object {
	x.mu.Lock()
	index := x.labels[key]
	if index == nil && key != "" && len(x.labels) < maxLabelIndexes && (len(x.labels)+1)*x.store.Len() <= x.maxLabelEntries {
		index = lwcache.NewIndex(x.store, func(o *object, to []string) []string {
			if value, ok := labelsOf(o)[key]; ok {
				to = append(to, value)
			}
			return to
		})
		x.labels[key] = index
	}
	x.mu.Unlock()
	var found []*object
	if index != nil {
		found = index.List(value)
	} else {
		found = x.store.List() // without an index, controller-runtime's reader compares the labels of the result
	}
	if namespace != allNamespaces {
		found = slices.DeleteFunc(found, func(o *object) bool { return o.GetNamespace() != namespace })
	}
	return found
}

// readAll returns objects in the form that the indexer's readers expect. It reports and omits objects that cannot be
// decoded.
func (x *indexer) readAll(objects []*object, shared bool) []any {
	list := make([]any, 0, len(objects))
	for _, o := range objects {
		value, err := x.read(o, shared)
		if err != nil {
			x.informer.report(o, err)
			continue
		}
		list = append(list, value)
	}
	return list
}

// IndexKeys implements [cache.Indexer]. It does not decode objects.
func (x *indexer) IndexKeys(name, value string) ([]string, error) {
	index, err := x.find(name)
	if err != nil {
		return nil, err
	}
	return keysOf(index.List(value)), nil
}

func (x *indexer) ListIndexFuncValues(name string) []string {
	index, err := x.find(name)
	if err != nil {
		return nil
	}
	return index.Keys()
}

func (x *indexer) find(name string) (index, error) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	found, ok := x.byName[name]
	if !ok {
		return found, fmt.Errorf("Index with name %s does not exist", name) // client-go's text
	}
	return found, nil
}

// GetIndexers implements [cache.Indexer]. It returns a copy of the map. The functions in the map accept the objects
// that the indexer returns.
func (x *indexer) GetIndexers() cache.Indexers {
	x.mu.RLock()
	defer x.mu.RUnlock()
	funcs := cache.Indexers{}
	for name, index := range x.byName {
		funcs[name] = func(obj any) ([]string, error) { return index.of(structOf(obj)) }
	}
	return funcs
}

// AddIndexers implements [cache.Indexer]. If it returns an error, it has added no indexer. If an index function panics,
// AddIndexers may have added some of the other indexers.
func (x *indexer) AddIndexers(indexers cache.Indexers) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if conflicts := sets.KeySet(x.byName).Intersection(sets.KeySet(indexers)); len(conflicts) > 0 {
		return fmt.Errorf("indexer conflict: %v", conflicts)
	}
	for name, f := range indexers {
		x.byName[name] = index{f, lwcache.NewIndex(x.store, x.values(name, f))}
	}
	return nil
}

// values adapts an index function of client-go to stored objects. It decodes objects, except for
// [cache.MetaNamespaceIndexFunc], which needs only the namespace. The adapted function panics if f returns an error, as
// in client-go's store.
func (x *indexer) values(name string, f cache.IndexFunc) func(*object, []string) []string {
	if reflect.ValueOf(f).Pointer() == reflect.ValueOf(cache.MetaNamespaceIndexFunc).Pointer() {
		return lwcache.ByNamespace[*object]
	}
	return func(o *object, to []string) []string {
		value := x.informer.readOrReport(o)
		if value == nil {
			return to
		}
		values, err := f(value)
		if err != nil {
			panic(fmt.Errorf("unable to calculate an index entry for key %q on index %q: %w", o.Key(), name, err))
		}
		return append(to, values...)
	}
}
