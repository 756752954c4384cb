package servers

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"sync"
	"time"
)

const namespace = "shop"

// change is a write to the collection. revision is the collection's revision after the write.
type change struct {
	kind     string // ADDED, MODIFIED or DELETED
	name     string
	body     int // revision of the write that set the object's content
	revision int
}

// world contains a collection of ConfigMaps and its history.
type world struct {
	mu       sync.Mutex
	revision int
	objects  map[string]int         // revision of the latest write, by object name
	states   map[int]map[string]int // copies of `objects`, by revision
	changes  []change
	changed  chan struct{} // closed by the next change
	version  func(int) string
	era      string         // part of every UID, so that the objects of a rebuilt server have other UIDs
	revs     map[string]int // revision by resourceVersion
	naming   func(int) string
	stepping sync.Mutex
	random   *rand.Rand
	made     int
}

func newWorld(seed uint64, naming, version func(int) string) *world {
	w := &world{naming: naming, revision: 1000, objects: map[string]int{}, states: map[int]map[string]int{}, changed: make(chan struct{}),
		version: version, revs: map[string]int{}, random: rand.New(rand.NewPCG(seed, 7))}
	if naming == nil {
		w.naming = func(n int) string { return fmt.Sprintf("cm-%04d", n) }
	}
	if version == nil {
		w.version = strconv.Itoa
	}
	for range 24 {
		w.create()
	}
	return w
}

func (w *world) write(kind, name string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.revision++
	c := change{kind: kind, name: name, body: w.revision, revision: w.revision}
	if kind == "DELETED" {
		c.body = w.objects[name]
		delete(w.objects, name)
	} else {
		w.objects[name] = w.revision
	}
	state := make(map[string]int, len(w.objects))
	for name, revision := range w.objects {
		state[name] = revision
	}
	w.states[w.revision], w.revs[w.version(w.revision)] = state, w.revision
	w.changes = append(w.changes, c)
	close(w.changed)
	w.changed = make(chan struct{})
}

func (w *world) create() {
	w.made++
	w.write("ADDED", w.naming(w.made))
}

// step creates, modifies or deletes a random object.
func (w *world) step() {
	w.stepping.Lock()
	defer w.stepping.Unlock()
	names := w.names(w.revision)
	switch n := w.random.IntN(10); {
	case n < 2 && len(names) < 40 || len(names) < 12:
		w.create()
	case n < 4:
		w.write("DELETED", names[w.random.IntN(len(names))])
	default:
		w.write("MODIFIED", names[w.random.IntN(len(names))])
	}
}

// pause returns a random delay of at most nine seconds until the next change.
func (w *world) pause() time.Duration {
	w.stepping.Lock()
	defer w.stepping.Unlock()
	return time.Duration(1+w.random.IntN(9000)) * time.Millisecond
}

// remove deletes the object whose name sorts first.
func (w *world) remove() {
	w.stepping.Lock()
	defer w.stepping.Unlock()
	w.write("DELETED", w.names(w.revision)[0])
}

// names returns the sorted names of the objects at a revision.
func (w *world) names(revision int) []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	var names []string
	for name := range w.states[revision] {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// state returns the objects at a resourceVersion, or false if the collection never had that resourceVersion.
func (w *world) state(resourceVersion string) (map[string]int, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	revision, ok := w.revs[resourceVersion]
	return w.states[revision], ok
}

// since returns the changes after a revision, the current revision, and a channel that the next change closes.
func (w *world) since(revision int) ([]change, int, <-chan struct{}) {
	w.mu.Lock()
	defer w.mu.Unlock()
	from, _ := slices.BinarySearchFunc(w.changes, revision+1, func(c change, r int) int { return c.revision - r })
	return w.changes[from:], w.revision, w.changed
}

func (w *world) now() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.revision
}

// object returns the JSON of an object without kind and apiVersion, like an item of a list.
func (w *world) object(name string, body, revision int) string {
	text, _ := json.Marshal(name)
	return fmt.Sprintf(`{"metadata":{"name":%s,"namespace":%q,"uid":%q,"resourceVersion":%q},"data":{"v":"%d"}}`,
		text, namespace, w.uid(name), w.version(revision), body)
}

func (w *world) uid(name string) string { return fmt.Sprintf("u%s-%d", w.era, len(name)) }

func (w *world) event(c change) string {
	return frame(c.kind, w.object(c.name, c.body, c.revision))
}

// frame returns a watch event as a line of JSON. item is the result of the method object.
func frame(kind, item string) string {
	return `{"type":"` + kind + `","object":{"kind":"ConfigMap","apiVersion":"v1",` + item[1:] + "}\n"
}

// bookmark returns a bookmark event as a line of JSON. If end is set, it is an initial-events-end bookmark.
func bookmark(version string, end bool) string {
	annotations := ""
	if end {
		annotations = `,"annotations":{"k8s.io/initial-events-end":"true"}`
	}
	return `{"type":"BOOKMARK","object":{"kind":"ConfigMap","apiVersion":"v1","metadata":{"resourceVersion":"` + version + `"` + annotations + "}}}\n"
}

// failure returns the JSON of a Status.
func failure(code int, reason, message string) string {
	return fmt.Sprintf(`{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":%q,"reason":%q,"code":%d}`, message, reason, code)
}

// failed returns an ERROR event as a line of JSON.
func failed(code int, reason, message string) string {
	return `{"type":"ERROR","object":` + failure(code, reason, message) + "}\n"
}

func (w *world) latest() map[string]int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.states[w.revision]
}
