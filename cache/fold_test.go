package cache

import (
	"strings"
	"testing"

	"github.com/seed-6d2a410a/listwatch/lw"
	"github.com/stretchr/testify/require"
)

// TestDeltas: what a reflector tells of each history. The language is that of [script] and [stage.play].
func TestDeltas(t *testing.T) {
	for name, c := range map[string]struct {
		lines []string
		told  string
	}{
		"an empty list": {[]string{"list@1"}, "ok"},
		"a life":        {[]string{"list@1", "watch +a/x@2 ~a/x@3 -a/x@4 +a/x@5"}, "ok +a/x@2 ~a/x@2>3 -a/x@4 +a/x@5"},
		"pages":         {[]string{"list+@3 a/x@1", "list+@3 a/y@2", "list@3 a/z@3"}, "+a/x@1 +a/y@2 +a/z@3 ok"},
		"bookmarks":     {[]string{"list@1 x@1", "watch =5 =6"}, "+x@1 ok"},

		"the same version again":          {[]string{"list@3 a/x@1", "watch ~a/x@1 +a/x@1"}, "+a/x@1 ok"},
		"no versions at all":              {[]string{"list@3 a/x", "watch ~a/x"}, "+a/x@ ok ~a/x@>"},
		"added, but known":                {[]string{"list@3 a/x@1", "watch +a/x@4"}, "+a/x@1 ok ~a/x@1>4"},
		"modified, but unknown":           {[]string{"list@3", "watch ~a/x@4"}, "ok +a/x@4"},
		"deleted, but unknown":            {[]string{"list@3 a/y@2", "watch -a/x@4 -b/y@5"}, "+a/y@2 ok"},
		"deleted twice":                   {[]string{"list@3 a/x@1", "watch -a/x@4 -a/x@4"}, "+a/x@1 ok -a/x@4"},
		"the last state is the wire's":    {[]string{"list@3 a/x@1", "watch -a/x@9"}, "+a/x@1 ok -a/x@9"},
		"one name in several namespaces":  {[]string{"list@3 a/x@1 b/x@2 x@3", "watch -b/x@4"}, "+a/x@1 +b/x@2 +x@3 ok -b/x@4"},
		"recreated while watched":         {[]string{"list@3 a/x@1#1", "watch -a/x@4#1 +a/x@5#2"}, "+a/x@1 ok -a/x@4 +a/x@5"},
		"recreated while nobody watched":  {[]string{"list@3 a/x@1#1", "watch !expired", "list@6 a/x@5#2"}, "+a/x@1 ok -a/x@1? +a/x@5 ok"},
		"recreated within a watch":        {[]string{"list@3 a/x@1#1", "watch ~a/x@5#2"}, "+a/x@1 ok -a/x@1? +a/x@5"},
		"recreated between two lists":     {[]string{"list a/x@1#1 !reset", "list@6 a/x@5#2"}, "+a/x@1 -a/x@1? +a/x@5 ok"},
		"recreated at the same version":   {[]string{"list@3 a/x@1#1", "watch !expired", "list@3 a/x@1#2"}, "+a/x@1 ok -a/x@1? +a/x@1 ok"},
		"recreated and deleted unseen":    {[]string{"list@3 a/x@1#1", "watch -a/x@5#2"}, "+a/x@1 ok -a/x@1?"},
		"no UID is no other UID":          {[]string{"list@3 a/x@1#1", "watch ~a/x@4 ~a/x@5#2"}, "+a/x@1 ok ~a/x@1>4 ~a/x@4>5"},
		"a resumed watch is no list":      {[]string{"list@3 a/x@1", "watch +a/y@4 !reset", "watch +a/z@5"}, "+a/x@1 ok +a/y@4 +a/z@5"},
		"a list of the same":              {[]string{"list@3 a/x@1 b/y@2", "watch !expired", "list@3 a/x@1 b/y@2"}, "+a/x@1 +b/y@2 ok ok"},
		"a list tells what changed":       {[]string{"list@3 a/x@1 a/y@2 a/z@3", "watch !expired", "list@9 a/x@1 a/y@7 a/w@8"}, "+a/x@1 +a/y@2 +a/z@3 ok ~a/y@2>7 +a/w@8 -a/z@3? ok"},
		"all is gone":                     {[]string{"list@3 a/x@1 b/y@2", "watch !expired", "list@9"}, "+a/x@1 +b/y@2 ok -a/x@1? -b/y@2? ok"},
		"what was watched may be missing": {[]string{"list@3", "watch +a/x@4 ~a/x@5 !expired", "list@9"}, "ok +a/x@4 ~a/x@4>5 -a/x@5? ok"},

		"an interrupted list sweeps nothing":  {[]string{"list@3 a/x@1 a/y@2", "watch !expired", "list a/x@1 !reset"}, "+a/x@1 +a/y@2 ok"},
		"nor does a page":                     {[]string{"list@3 a/x@1 a/y@2", "watch !expired", "list+ a/x@1", "list !reset"}, "+a/x@1 +a/y@2 ok"},
		"the next list starts anew":           {[]string{"list@3 a/x@1 a/y@2", "watch !expired", "list a/y@2 !reset", "list@9 a/x@1"}, "+a/x@1 +a/y@2 ok -a/y@2? ok"},
		"the first list starts anew":          {[]string{"list a/x@1 !reset", "list@9 a/y@2"}, "+a/x@1 +a/y@2 -a/x@1? ok"},
		"an expired page's list starts anew":  {[]string{"list+ a/x@1", "list !expired", "list@9 a/x@1 a/y@2"}, "+a/x@1 +a/y@2 ok"},
		"an interrupted list's news are told": {[]string{"list@3 a/x@1", "watch !expired", "list a/x@5 !reset", "list@9 a/x@5"}, "+a/x@1 ok ~a/x@1>5 ok"},
	} {
		t.Run(name, func(t *testing.T) {
			withFixture(t, func(t *testing.T, s *fixture) {
				require.Equal(t, c.told, s.run(c.lines...))
				require.Empty(t, s.script.lines, "all was asked for")
			})
		})
	}
}

// TestUnchangedObjectsAreKept: a new list brings new objects of the same versions, and readers keep seeing the old pointers.
func TestUnchangedObjectsAreKept(t *testing.T) {
	withFixture(t, func(t *testing.T, s *fixture) {
		first := map[lw.Key]*lw.Object{}
		s.onEvent = func(event lw.Event[*lw.Object], _ []Change[*lw.Object]) bool {
			if event.Type == lw.WatchStarted && len(first) == 0 {
				for object := range s.store.All() {
					first[object.Key()] = object
				}
			}
			return true
		}
		s.run("list@3 a/x@1 a/y@2 z@3", "watch !expired", "list@9 a/x@1 a/y@8 z@3", "watch")
		for key, same := range map[string]bool{"a/x": true, "a/y": false, "z": true} {
			now, ok := s.store.Get(object(key).Key())
			require.True(t, ok)
			require.Equal(t, same, first[now.Key()] == now, key)
		}
	})
}

// TestRecreatedObjectIsDeletedAndAdded checks every way by which a store learns of an object with another UID.
func TestRecreatedObjectIsDeletedAndAdded(t *testing.T) {
	old, recreated := object("a/x@1#1"), object("a/x@5#2")
	for name, write := range map[string]func(*Writer[*lw.Object]) []Change[*lw.Object]{
		"a watch event": func(w *Writer[*lw.Object]) []Change[*lw.Object] {
			return w.Fold(lw.Event[*lw.Object]{Type: lw.Modified, Object: recreated})
		},
		"a list":  func(w *Writer[*lw.Object]) []Change[*lw.Object] { return listed(w, recreated) },
		"Put":     func(w *Writer[*lw.Object]) []Change[*lw.Object] { return w.Put(recreated) },
		"Replace": func(w *Writer[*lw.Object]) []Change[*lw.Object] { return w.Replace("6", recreated) },
	} {
		t.Run(name, func(t *testing.T) {
			store, w := NewStore[*lw.Object](nil)
			w.Replace("1", old)
			byUID := NewIndex(store, func(o *lw.Object, to []string) []string { return append(to, o.GetUID()) })
			require.Equal(t, []Change[*lw.Object]{{Type: Deleted, Old: old, FinalStateUnknown: true}, {Type: Added, New: recreated}}, write(w))
			held, _ := store.Get(old.Key())
			require.Same(t, recreated, held)
			require.Equal(t, []int{1, 0, 1}, []int{store.Len(), byUID.Len("1"), byUID.Len("2")})
		})
	}
}

// TestRestoredObjectThatWasRecreated: the list after a restore finds another UID, and so does a watch.
func TestRestoredObjectThatWasRecreated(t *testing.T) {
	for _, lines := range [][]string{{"list@6 a/x@5#2"}, {"watch ~a/x@5#2"}} {
		withFixture(t, func(t *testing.T, s *fixture) {
			s.reflector.RestoreObjects("3", []*lw.Object{object("a/x@1#1")})
			if strings.HasPrefix(lines[0], "list") {
				lines = append([]string{"watch !expired"}, lines...)
			}
			told := s.run(lines...)
			require.Equal(t, "+a/x@1 ok -a/x@1? +a/x@5", strings.TrimSuffix(told, " ok"))
		})
	}
}

func TestChangeTypesHaveNames(t *testing.T) {
	for kind, name := range map[ChangeType]string{Added: "Added", Modified: "Modified", Deleted: "Deleted", 0: "unknown", 4: "unknown"} {
		require.Equal(t, name, kind.String())
	}
}
