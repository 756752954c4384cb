package cache

import (
	"context"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/seed-6d2a410a/listwatch/lw"
)

// theater runs an informer whose server does what the test says, in a bubble.
type theater struct {
	t        *testing.T
	informer *Informer[*lw.Object]
	events   chan lw.Event[*lw.Object] // what the watch brings
	err      chan error                // what Run returned
	stop     context.CancelFunc
}

// inTheater runs a test with an informer whose first list holds these objects.
func inTheater(t *testing.T, words string, test func(*testing.T, *theater)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		th := &theater{t: t, events: make(chan lw.Event[*lw.Object]), err: make(chan error, 1)}
		th.informer = NewInformer(&live{first: strings.Fields(words), events: th.events}, plainLists())
		test(t, th)
		if th.stop != nil {
			th.stop()
			<-th.err
		}
	})
}

func (th *theater) run() {
	ctx, stop := context.WithCancel(th.t.Context())
	th.stop = stop
	go func() { th.err <- th.informer.Run(ctx) }()
	synctest.Wait()
}

// say lets the watch bring events, in the language of [script], and waits until all that follows has happened.
func (th *theater) say(words string) {
	for word := range strings.FieldsSeq(words) {
		th.send(word)
		synctest.Wait()
	}
}

// send does not wait.
func (th *theater) send(words string) {
	types := map[byte]lw.EventType{'+': lw.Added, '~': lw.Modified, '-': lw.Deleted}
	for word := range strings.FieldsSeq(words) {
		o := object(word[1:])
		th.events <- lw.Event[*lw.Object]{Type: types[word[0]], Object: o, ResourceVersion: o.GetResourceVersion()}
	}
}

// notes are what a handler was told, in the language of [stage.play]: "!" is for what was there at the beginning, "?" for
// a deletion that was not seen.
type notes struct {
	mu    sync.Mutex
	words []string
	hold  chan struct{} // if set, each call waits for an element
}

func (n *notes) handler() Handler[*lw.Object] {
	return Handler[*lw.Object]{
		Added: func(o *lw.Object, initial bool) {
			n.add("+"+o.Key().String()+"@"+o.GetResourceVersion(), initial, "!")
		},
		Modified: func(old, o *lw.Object) {
			n.add("~"+o.Key().String()+"@"+old.GetResourceVersion()+">"+o.GetResourceVersion(), false, "")
		},
		Deleted: func(o *lw.Object, stale bool) {
			n.add("-"+o.Key().String()+"@"+o.GetResourceVersion(), stale, "?")
		},
	}
}

func (n *notes) add(word string, marked bool, mark string) {
	if marked {
		word += mark
	}
	n.mu.Lock()
	n.words = append(n.words, word)
	n.mu.Unlock()
	if n.hold != nil {
		<-n.hold
	}
}

// take returns what was told since the last time.
func (n *notes) take() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	words := strings.Join(n.words, " ")
	n.words = nil
	return words
}
