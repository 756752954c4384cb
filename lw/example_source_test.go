package lw_test

import (
	"context"
	"fmt"
	"iter"
	"strconv"

	"github.com/seed-6d2a410a/listwatch/lw"
)

// Note is an object of a system other than Kubernetes.
type Note struct {
	Name, Text string
	Version    int
}

func (n Note) GetNamespace() string       { return "" }
func (n Note) GetName() string            { return n.Name }
func (n Note) GetResourceVersion() string { return strconv.Itoa(n.Version) }

// Notes is the history of all notes. The notes have the versions 1, 2, 3 and so on. A note replaces earlier notes that
// have the same name.
type Notes []Note

// List yields the current notes.
func (n Notes) List(_ context.Context, _ lw.ListOptions) *lw.Page[Note] {
	page := new(lw.Page[Note])
	page.Objects = func(yield func(Note, error) bool) {
		latest := map[string]int{}
		for _, note := range n {
			latest[note.Name] = note.Version
		}
		for _, note := range n {
			if note.Version == latest[note.Name] && !yield(note, nil) {
				return
			}
		}
		page.ResourceVersion = strconv.Itoa(len(n))
	}
	return page
}

// Source returns nil, because notes have no streaming lists.
func (Notes) Source() *lw.Source[Note] { return nil }

// Watch yields the notes after opts.ResourceVersion. A real source would then wait for new notes.
func (n Notes) Watch(_ context.Context, opts lw.ListOptions) iter.Seq2[lw.Event[Note], error] {
	return func(yield func(lw.Event[Note], error) bool) {
		from, err := strconv.Atoi(opts.ResourceVersion)
		if err != nil || from > len(n) {
			yield(lw.Event[Note]{}, lw.ErrExpired) // causes a relist
			return
		}
		if !yield(lw.Event[Note]{Type: lw.WatchStarted}, nil) {
			return
		}
		for _, note := range n[from:] {
			if !yield(lw.Event[Note]{Type: lw.Modified, Object: note, ResourceVersion: note.GetResourceVersion()}, nil) {
				return
			}
		}
	}
}

// A custom ListerWatcher follows a system other than Kubernetes.
func ExampleListerWatcher() {
	notes := Notes{{"milk", "two", 1}, {"bread", "one", 2}, {"milk", "three", 3}}
	for event := range lw.ListAndWatch(context.Background(), notes, nil) {
		switch event.Type {
		case lw.Added:
			fmt.Println(event.Object.Name, event.Object.Text)
		case lw.Synced:
			fmt.Println("synced at resourceVersion", event.ResourceVersion)
		case lw.WatchStarted:
			return // a real program would continue and receive new notes as Modified events
		}
	}
	// Output:
	// bread one
	// milk three
	// synced at resourceVersion 3
}
