package cache

import (
	"context"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/seed-6d2a410a/listwatch/lw"
)

// harness runs an informer. The test provides the events of the informer's watch.
type harness struct {
	t        *testing.T
	informer *Informer[*lw.Object]
	events   chan lw.Event[*lw.Object]
	err      chan error // receives the result of Run
	stop     context.CancelFunc
}

// withHarness calls test with a harness whose first list contains the given objects, in the syntax of [object].
func withHarness(t *testing.T, words string, test func(*testing.T, *harness)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		th := &harness{t: t, events: make(chan lw.Event[*lw.Object]), err: make(chan error, 1)}
		th.informer = NewInformer(&liveObjects{first: strings.Fields(words), events: th.events}, plainLists())
		test(t, th)
		if th.stop != nil {
			th.stop()
			<-th.err
		}
	})
}

func (th *harness) run() {
	ctx, stop := context.WithCancel(th.t.Context())
	th.stop = stop
	go func() { th.err <- th.informer.Run(ctx) }()
	synctest.Wait()
}

// deliver sends events through the watch, in the syntax of [script], and blocks until the informer has processed them.
func (th *harness) deliver(words string) {
	for word := range strings.FieldsSeq(words) {
		th.send(word)
		synctest.Wait()
	}
}

// send sends events through the watch, in the syntax of [script]. It does not wait until the informer has processed
// them.
func (th *harness) send(words string) {
	types := map[byte]lw.EventType{'+': lw.Added, '~': lw.Modified, '-': lw.Deleted}
	for word := range strings.FieldsSeq(words) {
		o := object(word[1:])
		th.events <- lw.Event[*lw.Object]{Type: types[word[0]], Object: o, ResourceVersion: o.GetResourceVersion()}
	}
}

// log is a handler that records its calls.
type log struct {
	mu      sync.Mutex
	entries []string
	block   chan struct{} // if not nil, each call blocks until the test sends to it
}

func (n *log) handler() Handler[*lw.Object] {
	return Handler[*lw.Object]{
		Added: func(o *lw.Object, initial bool) {
			n.add("+"+lw.KeyOf(o).String()+"@"+o.GetResourceVersion(), initial, "!")
		},
		Modified: func(old, o *lw.Object) {
			n.add("~"+lw.KeyOf(o).String()+"@"+old.GetResourceVersion()+">"+o.GetResourceVersion(), false, "")
		},
		Deleted: func(o *lw.Object, stale bool) {
			n.add("-"+lw.KeyOf(o).String()+"@"+o.GetResourceVersion(), stale, "?")
		},
	}
}

func (n *log) add(word string, marked bool, mark string) {
	if marked {
		word += mark
	}
	n.mu.Lock()
	n.entries = append(n.entries, word)
	n.mu.Unlock()
	if n.block != nil {
		<-n.block
	}
}

// take returns the recorded calls and clears the log.
func (n *log) take() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	words := strings.Join(n.entries, " ")
	n.entries = nil
	return words
}
