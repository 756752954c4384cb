package cache

import (
	"fmt"
	"math"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"unsafe"
	"weak"

	"github.com/seed-6d2a410a/listwatch/lw"
	"github.com/stretchr/testify/require"
)

// book is an object type without Kubernetes metadata, so the tests must supply its key.
type book struct {
	isbn    string
	authors []string
	year    int
}

func (b *book) authorsOf(to []string) []string { return append(to, b.authors...) }

func newLibrary() (*Store[*book], *Writer[*book]) {
	return NewStore(func(b *book) lw.Key { return lw.Key{Name: b.isbn} }, lw.Identity[*book]{})
}

func isbns(books []*book) []string {
	var found []string
	for _, b := range books {
		found = append(found, b.isbn)
	}
	slices.Sort(found)
	return found
}

func TestStoreOfAnyType(t *testing.T) {
	books, writer := newLibrary()
	byAuthor := NewIndex(books, (*book).authorsOf)
	byYear := NewIndex(books, func(b *book, to []int) []int { return append(to, b.year) })

	gopl := &book{"1", []string{"Donovan", "Kernighan"}, 2015}
	k_r := &book{"2", []string{"Kernighan", "Ritchie"}, 1978}
	require.Equal(t, []Change[*book]{{Type: lw.Added, New: gopl}, {Type: lw.Added, New: k_r}}, writer.Put(gopl, k_r))
	require.Empty(t, writer.Put(gopl), "an unchanged book must not cause a change")
	require.Equal(t, []string{"1", "2"}, isbns(byAuthor.List("Kernighan")))
	require.Equal(t, []string{"2"}, isbns(byYear.List(1978)))
	require.Empty(t, byYear.List(1979))

	second := &book{"2", []string{"Kernighan", "Ritchie"}, 1988}
	require.Equal(t, []Change[*book]{{Type: lw.Modified, Old: k_r, New: second}}, writer.Put(second))
	require.Empty(t, byYear.List(1978))
	require.Equal(t, []*book{second}, byAuthor.List("Ritchie"))
	require.ElementsMatch(t, []int{2015, 1988}, byYear.Keys(), "keys without objects must be removed")

	require.Equal(t, []Change[*book]{{Type: lw.Deleted, Old: gopl}}, writer.Delete(lw.Key{Name: "1"}, lw.Key{Name: "none"}))
	require.ElementsMatch(t, []string{"Kernighan", "Ritchie"}, byAuthor.Keys())
	require.Len(t, byAuthor.List("Kernighan"), 1)
	require.Empty(t, byAuthor.List("Donovan"))
}

// Replace must delete all other objects, and report that their final states are unknown.
func TestReplaceDeletesOtherObjects(t *testing.T) {
	books, writer := newLibrary()
	one, two, three := &book{isbn: "1"}, &book{isbn: "2"}, &book{isbn: "3"}
	writer.Put(one, two)
	changes := writer.Replace("7", two, three)
	require.Equal(t, []Change[*book]{{Type: lw.Added, New: three, Initial: true}, {Type: lw.Deleted, Old: one, FinalStateUnknown: true}}, changes)
	require.Equal(t, []string{"2", "3"}, isbns(books.List()))
	require.Equal(t, "7", books.ResourceVersion())
	<-books.Synced()
	require.Len(t, writer.Replace("8"), 2)
	require.Zero(t, books.Len())
}

// Readers must see either all objects of a batch or none of them.
func TestBatchIsAtomic(t *testing.T) {
	books, writer := newLibrary()
	done := make(chan bool)
	go func() {
		defer close(done)
		for range 500 {
			if n := len(books.List()); n%10 != 0 {
				t.Errorf("List returned %d books, expected a multiple of 10", n)
			}
		}
	}()
	for i := 0; ; i++ {
		batch := make([]*book, 10)
		for j := range batch {
			batch[j] = &book{isbn: strconv.Itoa((i%100)*10 + j)}
		}
		writer.Put(batch...)
		runtime.Gosched() // lets the other goroutine run, because WASM has only one thread
		select {
		case <-done:
			return
		default:
		}
	}
}

func TestIndexesCanBeAdded(t *testing.T) {
	withFixture(t, func(t *testing.T, s *fixture) {
		s.run("list@4 a/x@1 a/y@2 b/z@3")
		early := NewIndex(s.store, ByNamespace[*lw.Object])
		var late *Index[*lw.Object, string]
		s.onEvent = func(event lw.Event[*lw.Object], _ []Change[*lw.Object]) bool {
			if event.Type == lw.ListStarted {
				late = NewIndex(s.store, ByNamespace[*lw.Object])
			}
			return true
		}
		s.run("list@9 a/x@1 c/w@8", "watch -a/x@10")
		for _, index := range []*Index[*lw.Object, string]{early, late} {
			require.Equal(t, []string{"c"}, index.Keys(), "namespaces without objects must be removed")
			require.Equal(t, []string{"c/w"}, names(slices.Values(index.List("c"))))
		}
	})
}

func TestPanicInIndexKeepsState(t *testing.T) {
	books, writer := newLibrary()
	byAuthor := NewIndex(books, (*book).authorsOf)
	careful := NewIndex(books, func(b *book, to []int) []int {
		if b.year < 0 {
			panic("before Christ")
		}
		return append(to, b.year)
	})
	good, bad := &book{"1", []string{"A"}, 2000}, &book{"1", []string{"B"}, -1}
	writer.Put(good)
	require.PanicsWithValue(t, "before Christ", func() { writer.Put(bad) })
	require.PanicsWithValue(t, "before Christ", func() { writer.Put(&book{isbn: "2", year: -1}) })
	require.Equal(t, []*book{good}, books.List())
	require.Equal(t, []string{"A"}, byAuthor.Keys())
	writer.Put(&book{"1", []string{"C"}, 2001})
	require.Equal(t, []string{"C"}, byAuthor.Keys())
	require.Equal(t, []int{2001}, careful.Keys())
	require.PanicsWithValue(t, "no", func() { NewIndex(books, func(*book, []int) []int { panic("no") }) })
	writer.Put(good)
	require.Equal(t, []int{2000}, careful.Keys())
}

func TestDuplicateKeysCountOnce(t *testing.T) {
	books, writer := newLibrary()
	byAuthor := NewIndex(books, (*book).authorsOf)
	writer.Put(&book{isbn: "1", authors: []string{"A", "B", "A", "A"}})
	require.Len(t, byAuthor.List("A"), 1)
	writer.Put(&book{isbn: "1", authors: []string{"B", "B"}})
	require.Equal(t, []string{"B"}, byAuthor.Keys())
	writer.Delete(lw.Key{Name: "1"})
	require.Empty(t, byAuthor.Keys())
}

func TestStandardIndexes(t *testing.T) {
	pod := func(text string) *lw.Object {
		object, err := lw.ParseObject([]byte(text))
		require.NoError(t, err)
		return object
	}
	object := pod(`{"metadata":{"name":"a","namespace":"n","labels":{"app":"web"},"ownerReferences":[{"uid":"1"},{"uid":"2"}]},
		"spec":{"nodeName":"n1","replicas":3,"ok":true,"none":null,"args":["x","y",["z"],{"a":1},4],"object":{}}}`)
	bare := pod(`{"metadata":{"name":"b"}}`)
	for name, c := range map[string]struct {
		keys func(*lw.Object, []string) []string
		want []string
	}{
		"namespace":     {ByNamespace[*lw.Object], []string{"n"}},
		"label":         {ByField("metadata.labels.app"), []string{"web"}},
		"missing label": {ByField("metadata.labels.tier"), nil},
		"field":         {ByField("spec.nodeName"), []string{"n1"}},
		"number":        {ByField("spec.replicas"), []string{"3"}},
		"boolean":       {ByField("spec.ok"), []string{"true"}},
		"null":          {ByField("spec.none"), nil},
		"array":         {ByField("spec.args"), []string{"x", "y", "4"}},
		"object":        {ByField("spec.object"), nil},
		"missing field": {ByField("status.phase"), nil},
	} {
		require.Equal(t, c.want, c.keys(object, nil), name)
		if name != "namespace" {
			require.Empty(t, c.keys(bare, nil), name)
		}
	}
}

// A label value is a substring of its object's JSON text. The index must not keep the whole text in memory through this
// value.
func TestIndexKeysDoNotKeepObjects(t *testing.T) {
	store, writer := NewStore(nil, lw.Identity[*lw.Object]{})
	byLabel := NewIndex(store, ByField("metadata.labels.app"))
	put := func(version string) weak.Pointer[byte] {
		object, err := lw.ParseObject([]byte(`{"metadata":{"name":"x","resourceVersion":"` + version +
			`","labels":{"app":"web"}},"filler":"` + strings.Repeat("x", 64<<10) + `"}`))
		require.NoError(t, err)
		writer.Put(object)
		return weak.Make(unsafe.StringData(object.Raw()))
	}
	first := put("1")
	second := put("2")
	writer.Put() // makes the writer release the changes from the previous call
	require.True(t, eventually(func() bool { runtime.GC(); return first.Value() == nil }))
	require.Equal(t, []string{"web"}, byLabel.Keys())

	bySeveral := NewIndex(store, func(o *lw.Object, to []string) []string {
		return append(ByField("metadata.labels.app")(o, to), o.GetName())
	})
	writer.Delete(lw.Key{Name: "x"})
	writer.Put()
	require.True(t, eventually(func() bool { runtime.GC(); return second.Value() == nil }))
	require.Empty(t, bySeveral.Keys())
	runtime.KeepAlive(byLabel)
}

func TestUnusedSlotsAreReused(t *testing.T) {
	books, writer := newLibrary()
	byYear := NewIndex(books, func(b *book, to []int) []int { return append(to, b.year) })
	for year := range 1000 {
		writer.Put(&book{isbn: "1", year: year})
	}
	require.LessOrEqual(t, byYear.cells.Size(), 2)
	for n := range 1000 {
		writer.Delete(lw.Key{Name: fmt.Sprint(n)})
		writer.Put(&book{isbn: fmt.Sprint(n + 1)})
	}
	require.LessOrEqual(t, books.state.objects.Size(), 2)
}

// Finding 10 of 20,000 books must allocate only the result.
func TestLookupAllocatesOnlyResult(t *testing.T) {
	books, writer := newLibrary()
	byYear := NewIndex(books, func(b *book, to []int) []int { return append(to, b.year) })
	for i := range 20_000 {
		writer.Put(&book{isbn: fmt.Sprint(i), year: i / 10})
	}
	require.EqualValues(t, 1, testing.AllocsPerRun(100, func() {
		if len(byYear.List(7)) != 10 {
			t.Error("List must return 10 books")
		}
	}))
}

// If many keys had the same hash, each lookup would have to compare all of them.
func TestHashesAreWellDistributed(t *testing.T) {
	books, _ := newLibrary()
	byYear := NewIndex(books, func(b *book, to []int) []int { return append(to, b.year) })
	ofYears, ofKeys := map[uint32]bool{}, map[uint32]bool{}
	for n := range 1000 {
		ofYears[byYear.hash(n)] = true
		ofKeys[books.hash(lw.Key{Name: fmt.Sprint(n)})] = true
	}
	require.Greater(t, len(ofYears), 990)
	require.Greater(t, len(ofKeys), 990)
}

// A keys func may return a slice that belongs to the object, so the index must not modify the slice.
func TestKeysAreCopied(t *testing.T) {
	books, writer := newLibrary()
	byAuthor := NewIndex(books, func(b *book, _ []string) []string { return b.authors })
	b := &book{isbn: "1", authors: []string{"A", "B", "A"}}
	writer.Put(b)
	require.Equal(t, []string{"A", "B", "A"}, b.authors)
	require.ElementsMatch(t, []string{"A", "B"}, byAuthor.Keys())
	writer.Delete(lw.Key{Name: "1"})
	require.Empty(t, byAuthor.Keys())
}

// A program may modify a stored object, which changes its keys, and NaN does not equal itself. Such keys must not
// affect other objects.
func TestModifiedKeys(t *testing.T) {
	books, writer := newLibrary()
	byAuthor := NewIndex(books, (*book).authorsOf)
	byNumber := NewIndex(books, func(b *book, to []float64) []float64 { return append(to, math.NaN()) })
	changed, other := &book{isbn: "1", authors: []string{"A"}}, &book{isbn: "2", authors: []string{"B"}}
	writer.Put(changed, other)
	changed.authors = []string{"B"}
	writer.Delete(lw.Key{Name: "1"})
	require.Equal(t, []*book{other}, byAuthor.List("B"))
	require.Empty(t, byNumber.List(math.NaN()))
}

func TestForeignSnapshotPanics(t *testing.T) {
	books, _ := newLibrary()
	other, _ := newLibrary()
	byAuthor := NewIndex(books, (*book).authorsOf)
	require.PanicsWithValue(t, "cache: the snapshot belongs to another store", func() { byAuthor.In(other.Snapshot()) })
}

// Objects that cannot be compared must count as changed when they are written again.
func TestIncomparableObjectsCountAsChanged(t *testing.T) {
	type row struct {
		id    string
		extra any
	}
	rows, writer := NewStore(func(r row) lw.Key { return lw.Key{Name: r.id} }, lw.Identity[row]{})
	first := rows.Snapshot()
	writer.Put(row{"1", []int{1}})
	require.Len(t, writer.Put(row{"1", []int{1}}), 1)
	writer.Put(row{"2", 2})
	require.Empty(t, writer.Put(row{"2", 2}))
	require.Zero(t, first.Len())
}

func TestSingleKeyIsReadOnce(t *testing.T) {
	store, writer := NewStore(nil, lw.Identity[*lw.Object]{})
	read := map[*lw.Object]int{}
	byLabel := NewIndex(store, func(o *lw.Object, to []string) []string {
		read[o]++
		for label := range o.Get("metadata.labels").Members() {
			to = append(to, label)
		}
		return to
	})
	version := 0
	put := func(name string, labels ...string) *lw.Object {
		version++
		text := `{"metadata":{"name":"` + name + `","resourceVersion":"` + strconv.Itoa(version) + `","labels":{`
		for i, label := range labels {
			text += strings.Repeat(",", min(i, 1)) + `"` + label + `":""`
		}
		object, err := lw.ParseObject([]byte(text + `}}}`))
		require.NoError(t, err)
		writer.Put(object)
		return object
	}
	put("other", "b")
	for _, labels := range [][]string{
		{"a"}, {"a"}, {"b"}, {}, {"b"}, {"a", "b"}, {"b"}, {"b"}, {"b", "a"}, {"c", "b"}, {}, {"a", "c"}, {"c"}, {"c"}, {},
	} {
		put("o", labels...)
		for _, label := range []string{"a", "b", "c"} {
			has := slices.ContainsFunc(byLabel.List(label), func(o *lw.Object) bool { return o.GetName() == "o" })
			require.Equal(t, slices.Contains(labels, label), has, "the index must list the object under label %s only if the object has it; its labels are %v", label, labels)
		}
	}
	first, second := put("o", "d"), put("o", "d")
	writer.Delete(lw.KeyOf(second))
	require.Equal(t, []int{1, 1}, []int{read[first], read[second]})
	require.Equal(t, []string{"b"}, byLabel.Keys())
}

func TestRemovedIndexIsFreed(t *testing.T) {
	books, writer := newLibrary()
	calls := 0
	byYear := NewIndex(books, func(b *book, to []int) []int { calls++; return append(to, b.year) })
	byISBN := NewIndex(books, func(b *book, to []string) []string { return append(to, b.isbn) })
	byNext := NewIndex(books, func(b *book, to []int) []int { return append(to, b.year+1) })
	writer.Put(&book{isbn: "1", year: 1999})
	before := books.Snapshot()
	require.Equal(t, []int{2000}, byNext.In(before).Keys())
	frozen := byYear.In(before)
	frozen.Remove() // has no effect on the index of a snapshot, nor on the index of the store
	require.Len(t, byYear.List(1999), 1)

	byYear.Remove()
	require.NotContains(t, books.Snapshot().indexes, any(frozen))
	byYear.Remove()
	calls = 0
	writer.Put(&book{isbn: "2", year: 2000})
	require.Zero(t, calls)
	require.Zero(t, byYear.cells.Size())
	const removed = "cache: the index was removed from its store"
	require.PanicsWithValue(t, removed, func() { byYear.List(1999) })
	require.PanicsWithValue(t, removed, func() { byYear.Keys() })
	require.Len(t, frozen.List(1999), 1)
	require.Same(t, frozen, byYear.In(before))
	require.Len(t, byYear.In(books.Snapshot()).List(2000), 1)
	require.Len(t, byISBN.List("2"), 1, "the other index must remain")
	require.Len(t, byISBN.In(books.Snapshot()).List("2"), 1)
	require.NotContains(t, books.Snapshot().indexes, any(frozen))
}

func TestRemovedIndexFreesCachedKeys(t *testing.T) {
	store, writer := NewStore(nil, lw.Identity[*lw.Object]{})
	index := NewIndex(store, ByNamespace[*lw.Object])
	writer.Put(object("shop/a@1"))
	require.NotEmpty(t, index.singleKey)
	index.Remove()
	require.Empty(t, index.singleKey)
}

func TestIndexIsRemovedDuringWrites(t *testing.T) {
	store, writer := NewStore(nil, lw.Identity[*lw.Object]{})
	var group sync.WaitGroup
	group.Go(func() {
		for n := range 100 {
			writer.Put(object("shop/a@" + strconv.Itoa(n+1)))
		}
	})
	for range 100 {
		index := NewIndex(store, ByNamespace[*lw.Object])
		index.List("shop")
		index.Remove()
	}
	group.Wait()
	require.Empty(t, store.indexes)
}
