package cache

import (
	"context"
	"errors"
	"iter"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/seed-6d2a410a/listwatch/lw"
	"github.com/stretchr/testify/require"
)

// script is an lw.ListerWatcher that answers each request with the next line of the script, and ends the run after the
// last line. For example:
//
//	list@10 a/x@1 a/y@2#7     a complete list: its resourceVersion and its items as namespace/name@resourceVersion#UID
//	list+@10 a/x@1            a page of a list, but not the last page
//	watch +a/x@3 ~a/x@4 -a/x@5 =12 !expired
//
// The prefixes +, ~, - and = of a watch event mean Added, Modified, Deleted and a bookmark. A word that starts with "!"
// names an error in errs. A watch without an error closes cleanly. A line that starts with check describes the response to
// the check after a broken connection, with the syntax of a list. Without such a line the check succeeds.
type script struct {
	t     *testing.T
	lines []string // lines that have not been used yet
	end   func()   // ends the run
}

var errs = map[string]error{
	"reset":     errors.New("connection reset"),
	"expired":   &lw.StatusError{Code: 410, Reason: "Expired"},
	"forbidden": &lw.StatusError{Code: 403},
	"silent":    lw.ErrSilent,
}

// next returns the words of the next line, which must start with kind.
func (s *script) next(kind string) []string {
	if len(s.lines) == 0 {
		s.end()
		return nil
	}
	words := strings.Fields(s.lines[0])
	require.True(s.t, strings.HasPrefix(words[0], kind), "the run requested a %s, but the next line of the script is %q", kind, s.lines[0])
	s.lines = s.lines[1:]
	return words
}

// isCheck reports whether a list request is a check. After a broken connection, a stream sends a check to find out
// whether the server was rebuilt. Such a request asks for one object. isCheck then fills meta so that the check
// succeeds.
func isCheck(opts lw.ListOptions, meta *lw.ListMeta) bool {
	if opts.Limit != 1 {
		return false
	}
	meta.ResourceVersion, meta.Continue = "1000000", "more"
	return true
}

func (s *script) List(ctx context.Context, opts lw.ListOptions) *lw.Page[*lw.Object] {
	page := new(lw.Page[*lw.Object])
	page.Objects = func(yield func(*lw.Object, error) bool) {
		kind := "list"
		if opts.Limit == 1 && len(s.lines) > 0 && strings.HasPrefix(s.lines[0], "check") {
			kind = "check"
		} else if isCheck(opts, &page.ListMeta) {
			return
		}
		words := s.next(kind)
		if words == nil {
			yield(nil, context.Cause(ctx))
			return
		}
		for _, word := range words[1:] {
			if failure, ok := strings.CutPrefix(word, "!"); ok {
				yield(nil, errs[failure])
				return
			}
			if !yield(object(word), nil) {
				return
			}
		}
		_, page.ResourceVersion, _ = strings.Cut(words[0], "@")
		if strings.HasPrefix(words[0], kind+"+") {
			page.Continue = "more" + strconv.Itoa(len(s.lines))
		}
	}
	return page
}

func (*script) Source() *lw.Source[*lw.Object] { return nil }

func (s *script) Watch(ctx context.Context, opts lw.ListOptions) iter.Seq2[lw.Event[*lw.Object], error] {
	return func(yield func(lw.Event[*lw.Object], error) bool) {
		words := s.next("watch")
		if words == nil {
			yield(lw.Event[*lw.Object]{}, context.Cause(ctx))
			return
		}
		if !yield(lw.Event[*lw.Object]{Type: lw.WatchStarted, ResourceVersion: opts.ResourceVersion}, nil) {
			return
		}
		types := map[byte]lw.EventType{'+': lw.Added, '~': lw.Modified, '-': lw.Deleted}
		for _, word := range words[1:] {
			event := lw.Event[*lw.Object]{Type: types[word[0]]}
			switch word[0] {
			case '!':
				yield(event, errs[word[1:]])
				return
			case '=':
				event.Type, event.ResourceVersion = lw.Bookmark, word[1:]
			default:
				event.Object = object(word[1:])
				event.ResourceVersion = event.Object.GetResourceVersion()
			}
			if !yield(event, nil) {
				return
			}
		}
	}
}

// object returns an object with the metadata in word, written as "namespace/name@version#uid". Only the name is
// required.
func object(word string) *lw.Object {
	word, uid, _ := strings.Cut(word, "#")
	word, version, _ := strings.Cut(word, "@")
	namespace, name, ok := strings.Cut(word, "/")
	if !ok {
		namespace, name = "", word
	}
	object, err := lw.ParseObject([]byte(`{"metadata":{"namespace":"` + namespace + `","name":"` + name +
		`","resourceVersion":"` + version + `","uid":"` + uid + `"}}`))
	if err != nil {
		panic(err)
	}
	return object
}

// fixture runs an informer whose server responses come from a script.
type fixture struct {
	t        *testing.T
	script   *script
	informer *Informer[*lw.Object]
	store    *Store[*lw.Object]
	fold     fold

	// onEvent, if not nil, is called for each event. It ends the run by returning false.
	onEvent func(lw.Event[*lw.Object], []Change[*lw.Object]) bool
}

// withFixture runs a test with a new informer in a synctest bubble, so that backoff delays take no time.
func withFixture(t *testing.T, test func(*testing.T, *fixture)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := &fixture{t: t, script: &script{t: t}, fold: fold{}}
		s.informer = NewInformer(s.script, plainLists())
		s.store = s.informer.Store()
		test(t, s)
	})
}

// run runs the informer until all lines are used. It returns the changes, "ok" at the end of each list, and "restored" at the
// end of restored objects:
//
//	+a/x@1 added    ~a/x@1>2 updated    -a/x@2 deleted    -a/x@2? deleted, final state unknown    ok synced
//
// After every event, the fold of the changes must equal the store. If the store can resume but the first line is a
// list, run first answers a watch with an expired error.
func (s *fixture) run(lines ...string) string {
	if s.store.resumable() != "" && len(lines) > 0 && strings.HasPrefix(lines[0], "list") {
		lines = append([]string{"watch !expired"}, lines...)
	}
	ctx, cancel := context.WithCancel(s.t.Context())
	defer cancel()
	s.script.lines, s.script.end = lines, cancel
	var described []string
	for event, changes := range s.informer.Follow(ctx) {
		var words []string
		for _, change := range changes {
			s.fold.apply(s.t, change)
			words = append(words, describe(change))
		}
		s.fold.equal(s.t, s.store)
		switch event.Type {
		case lw.Synced:
			slices.Sort(words) // the order of these deletions is undefined
			words = append(words, "ok")
		case lw.Restored:
			slices.Sort(words)
			words = append(words, "restored")
		}
		described = append(described, words...)
		if s.onEvent != nil && !s.onEvent(event, changes) {
			break
		}
	}
	return strings.Join(described, " ")
}

func describe(d Change[*lw.Object]) string {
	switch {
	case d.Type == lw.Added:
		return "+" + lw.KeyOf(d.New).String() + "@" + d.New.GetResourceVersion()
	case d.Type == lw.Modified:
		return "~" + lw.KeyOf(d.New).String() + "@" + d.Old.GetResourceVersion() + ">" + d.New.GetResourceVersion()
	case d.FinalStateUnknown:
		return "-" + lw.KeyOf(d.Old).String() + "@" + d.Old.GetResourceVersion() + "?"
	}
	return "-" + lw.KeyOf(d.Old).String() + "@" + d.Old.GetResourceVersion()
}

// fold maps keys to objects. If all of a store's changes are applied to an empty fold, it contains the same objects as
// the store.
type fold map[lw.Key]*lw.Object

// apply applies a change to the fold. The change must be legal for its key.
func (f fold) apply(t *testing.T, d Change[*lw.Object]) {
	t.Helper()
	object := d.New
	if d.Type == lw.Deleted {
		object = d.Old
		require.Nil(t, d.New)
	}
	stored := f[lw.KeyOf(object)]
	require.Equal(t, d.Type == lw.Added, stored == nil, "%v event for %v: only an object that is not in the store may be added", d.Type, lw.KeyOf(object))
	switch {
	case d.Type == lw.Deleted:
		require.True(t, !d.FinalStateUnknown || d.Old == stored, "a deletion with an unknown final state must contain the stored object")
		delete(f, lw.KeyOf(object))
		return
	case d.Type == lw.Modified:
		require.Same(t, stored, d.Old)
	case d.Type == lw.Added:
		require.Nil(t, d.Old)
	}
	require.False(t, d.FinalStateUnknown)
	f[lw.KeyOf(object)] = object
}

// equal requires that the fold and the store contain the same objects.
func (f fold) equal(t *testing.T, store *Store[*lw.Object]) {
	t.Helper()
	require.Equal(t, len(f), store.Len())
	for key, want := range f {
		got, _ := store.Get(key)
		require.True(t, want == got, "%v: the store must equal the fold of the changes", key)
	}
}

// applyAll applies events to a store and returns all changes.
func applyAll[T any](store *Store[T], events ...lw.Event[T]) (changes []Change[T]) {
	for _, event := range events {
		changes = append(changes, store.apply(event)...)
	}
	return changes
}

func plainLists() *lw.Options { return &lw.Options{NoStreamingList: true} }
