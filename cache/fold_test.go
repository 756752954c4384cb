package cache

import (
	"strings"
	"testing"

	"github.com/seed-6d2a410a/listwatch/lw"
	"github.com/stretchr/testify/require"
)

// Each case lists server responses and the changes that they must produce. See [script] and [fixture.run] for the
// syntax.
func TestFollow(t *testing.T) {
	for name, c := range map[string]struct {
		lines []string
		want  string
	}{
		"empty list":     {[]string{"list@1"}, "ok"},
		"full lifecycle": {[]string{"list@1", "watch +a/x@2 ~a/x@3 -a/x@4 +a/x@5"}, "ok +a/x@2 ~a/x@2>3 -a/x@4 +a/x@5"},
		"pages":          {[]string{"list+@3 a/x@1", "list+@3 a/y@2", "list@3 a/z@3"}, "+a/x@1 +a/y@2 +a/z@3 ok"},
		"bookmarks":      {[]string{"list@1 x@1", "watch =5 =6"}, "+x@1 ok"},

		"repeated resourceVersion":                   {[]string{"list@3 a/x@1", "watch ~a/x@1 +a/x@1"}, "+a/x@1 ok"},
		"no resourceVersions":                        {[]string{"list@3 a/x", "watch ~a/x"}, "+a/x@ ok ~a/x@>"},
		"Added event for a stored object":            {[]string{"list@3 a/x@1", "watch +a/x@4"}, "+a/x@1 ok ~a/x@1>4"},
		"Modified event for an unknown object":       {[]string{"list@3", "watch ~a/x@4"}, "ok +a/x@4"},
		"Deleted event for an unknown object":        {[]string{"list@3 a/y@2", "watch -a/x@4 -b/y@5"}, "+a/y@2 ok"},
		"repeated Deleted event":                     {[]string{"list@3 a/x@1", "watch -a/x@4 -a/x@4"}, "+a/x@1 ok -a/x@4"},
		"final state in a Deleted event":             {[]string{"list@3 a/x@1", "watch -a/x@9"}, "+a/x@1 ok -a/x@9"},
		"same name in several namespaces":            {[]string{"list@3 a/x@1 b/x@2 x@3", "watch -b/x@4"}, "+a/x@1 +b/x@2 +x@3 ok -b/x@4"},
		"recreated during a watch":                   {[]string{"list@3 a/x@1#1", "watch -a/x@4#1 +a/x@5#2"}, "+a/x@1 ok -a/x@4 +a/x@5"},
		"recreated between watches":                  {[]string{"list@3 a/x@1#1", "watch !expired", "list@6 a/x@5#2"}, "+a/x@1 ok -a/x@1? +a/x@5 ok"},
		"recreated in one watch event":               {[]string{"list@3 a/x@1#1", "watch ~a/x@5#2"}, "+a/x@1 ok -a/x@1? +a/x@5"},
		"recreated between two lists":                {[]string{"list a/x@1#1 !reset", "list@6 a/x@5#2"}, "+a/x@1 -a/x@1? +a/x@5 ok"},
		"recreated at the same resourceVersion":      {[]string{"list@3 a/x@1#1", "watch !expired", "list@3 a/x@1#2"}, "+a/x@1 ok -a/x@1? +a/x@1 ok"},
		"Deleted event after a missed recreation":    {[]string{"list@3 a/x@1#1", "watch -a/x@5#2"}, "+a/x@1 ok -a/x@1?"},
		"missing UID":                                {[]string{"list@3 a/x@1#1", "watch ~a/x@4 ~a/x@5#2"}, "+a/x@1 ok ~a/x@1>4 ~a/x@4>5"},
		"resumed watch without a list":               {[]string{"list@3 a/x@1", "watch +a/y@4 !reset", "watch +a/z@5"}, "+a/x@1 ok +a/y@4 +a/z@5"},
		"relist without changes":                     {[]string{"list@3 a/x@1 b/y@2", "watch !expired", "list@3 a/x@1 b/y@2"}, "+a/x@1 +b/y@2 ok ok"},
		"relist with changes":                        {[]string{"list@3 a/x@1 a/y@2 a/z@3", "watch !expired", "list@9 a/x@1 a/y@7 a/w@8"}, "+a/x@1 +a/y@2 +a/z@3 ok ~a/y@2>7 +a/w@8 -a/z@3? ok"},
		"empty relist":                               {[]string{"list@3 a/x@1 b/y@2", "watch !expired", "list@9"}, "+a/x@1 +b/y@2 ok -a/x@1? -b/y@2? ok"},
		"relist that lacks an object from the watch": {[]string{"list@3", "watch +a/x@4 ~a/x@5 !expired", "list@9"}, "ok +a/x@4 ~a/x@4>5 -a/x@5? ok"},

		"interrupted relist":                   {[]string{"list@3 a/x@1 a/y@2", "watch !expired", "list a/x@1 !reset"}, "+a/x@1 +a/y@2 ok"},
		"relist interrupted between pages":     {[]string{"list@3 a/x@1 a/y@2", "watch !expired", "list+ a/x@1", "list !reset"}, "+a/x@1 +a/y@2 ok"},
		"relist after an interrupted relist":   {[]string{"list@3 a/x@1 a/y@2", "watch !expired", "list a/y@2 !reset", "list@9 a/x@1"}, "+a/x@1 +a/y@2 ok -a/y@2? ok"},
		"list after an interrupted first list": {[]string{"list a/x@1 !reset", "list@9 a/y@2"}, "+a/x@1 +a/y@2 -a/x@1? ok"},
		"list after an expired continue token": {[]string{"list+ a/x@1", "list !expired", "list@9 a/x@1 a/y@2"}, "+a/x@1 +a/y@2 ok"},
		"change from an interrupted relist":    {[]string{"list@3 a/x@1", "watch !expired", "list a/x@5 !reset", "list@9 a/x@5"}, "+a/x@1 ok ~a/x@1>5 ok"},
	} {
		t.Run(name, func(t *testing.T) {
			withFixture(t, func(t *testing.T, s *fixture) {
				require.Equal(t, c.want, s.run(c.lines...))
				require.Empty(t, s.script.lines, "the run must request every scripted response")
			})
		})
	}
}

// A relist decodes unchanged objects again, but the store must keep the pointers that it already holds.
func TestUnchangedObjectsAreKept(t *testing.T) {
	withFixture(t, func(t *testing.T, s *fixture) {
		first := map[lw.Key]*lw.Object{}
		s.onEvent = func(event lw.Event[*lw.Object], _ []Change[*lw.Object]) bool {
			if event.Type == lw.WatchStarted && len(first) == 0 {
				for _, object := range s.store.List() {
					first[lw.KeyOf(object)] = object
				}
			}
			return true
		}
		s.run("list@3 a/x@1 a/y@2 z@3", "watch !expired", "list@9 a/x@1 a/y@8 z@3", "watch")
		for key, same := range map[string]bool{"a/x": true, "a/y": false, "z": true} {
			now, ok := s.store.Get(lw.KeyOf(object(key)))
			require.True(t, ok)
			require.Equal(t, same, first[lw.KeyOf(now)] == now, key)
		}
	})
}

func TestRecreatedObjectIsDeletedAndAdded(t *testing.T) {
	old, recreated := object("a/x@1#1"), object("a/x@5#2")
	for name, write := range map[string]func(*Writer[*lw.Object]) []Change[*lw.Object]{
		"watch event": func(w *Writer[*lw.Object]) []Change[*lw.Object] {
			return applyAll(w.store, lw.Event[*lw.Object]{Type: lw.Modified, Object: recreated})
		},
		"list":    func(w *Writer[*lw.Object]) []Change[*lw.Object] { return listed(w, recreated) },
		"Put":     func(w *Writer[*lw.Object]) []Change[*lw.Object] { return w.Put(recreated) },
		"Replace": func(w *Writer[*lw.Object]) []Change[*lw.Object] { return w.Replace("6", recreated) },
	} {
		t.Run(name, func(t *testing.T) {
			store, w := NewStore(nil, lw.Identity[*lw.Object]{})
			w.Replace("1", old)
			byUID := NewIndex(store, func(o *lw.Object, to []string) []string { return append(to, o.GetUID()) })
			require.Equal(t, []Change[*lw.Object]{{Type: lw.Deleted, Old: old, FinalStateUnknown: true}, {Type: lw.Added, New: recreated}}, write(w))
			stored, _ := store.Get(lw.KeyOf(old))
			require.Same(t, recreated, stored)
			require.Equal(t, []int{1, 0, 1}, []int{store.Len(), len(byUID.List("1")), len(byUID.List("2"))})
		})
	}
}

func TestRestoredObjectIsRecreated(t *testing.T) {
	for _, lines := range [][]string{{"list@6 a/x@5#2"}, {"watch ~a/x@5#2"}} {
		withFixture(t, func(t *testing.T, s *fixture) {
			s.informer.RestoreObjects("3", []*lw.Object{object("a/x@1#1")})
			if strings.HasPrefix(lines[0], "list") {
				lines = append([]string{"watch !expired"}, lines...)
			}
			got := s.run(lines...)
			require.Equal(t, "+a/x@1 restored -a/x@1? +a/x@5", strings.TrimSuffix(got, " ok"))
		})
	}
}
