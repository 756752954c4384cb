package lw_test

import (
	"context"
	"fmt"
	"iter"
	"strconv"

	"github.com/seed-6d2a410a/listwatch/lw"
)

// Note is an object of a system that is no Kubernetes.
type Note struct {
	Name, Text string
	Version    int
}

func (n Note) GetNamespace() string       { return "" }
func (n Note) GetName() string            { return n.Name }
func (n Note) GetResourceVersion() string { return strconv.Itoa(n.Version) }

// Notes are its history: the nth note was written as version n, from 1 on. A later note of a name takes the earlier one's place.
type Notes []Note

// List yields what is there at the latest version.
func (n Notes) List(_ context.Context, _ lw.ListOptions, meta *lw.ListMeta) iter.Seq2[Note, error] {
	return func(yield func(Note, error) bool) {
		latest := map[string]int{}
		for _, note := range n {
			latest[note.Name] = note.Version
		}
		for _, note := range n {
			if note.Version == latest[note.Name] && !yield(note, nil) {
				return
			}
		}
		meta.ResourceVersion = strconv.Itoa(len(n))
	}
}

// Watch yields what was written after a version. A real one would then wait for more.
func (n Notes) Watch(_ context.Context, opts lw.WatchOptions) iter.Seq2[lw.Event[Note], error] {
	return func(yield func(lw.Event[Note], error) bool) {
		from, err := strconv.Atoi(opts.ResourceVersion)
		if err != nil || from > len(n) {
			yield(lw.Event[Note]{}, lw.ErrExpired) // a list follows
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

// Whatever can be listed at a version, and watched from there, can be followed. package cache makes stores of it, too.
func ExampleListerWatcher() {
	notes := Notes{{"milk", "two", 1}, {"bread", "one", 2}, {"milk", "three", 3}}
	for event := range lw.ListAndWatch(context.Background(), notes, nil) {
		switch event.Type {
		case lw.Added:
			fmt.Println(event.Object.Name, event.Object.Text)
		case lw.Synced:
			fmt.Println("all that there is, at version", event.ResourceVersion)
		case lw.WatchStarted:
			return // or go on: what is written from now on comes as Modified
		}
	}
	// Output:
	// bread one
	// milk three
	// all that there is, at version 3
}
