package sim

import (
	"context"
	"io"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/seed-6d2a410a/listwatch/cache"
	"github.com/seed-6d2a410a/listwatch/lw"
)

// patient is a transport that ignores the engine's idle timeouts.
type patient struct{ lw.Transport }

func (p patient) Open(ctx context.Context, req *lw.Request) (*lw.Response, error) {
	patiently, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	context.AfterFunc(ctx, func() {
		if cause := context.Cause(ctx); cause != lw.ErrSilent {
			cancel(cause)
		}
	})
	return p.Transport.Open(patiently, req)
}

// hasty is a transport that sets every initial-events-end annotation to "true".
type hasty struct{ lw.Transport }

func (h hasty) Open(ctx context.Context, req *lw.Request) (*lw.Response, error) {
	body, err := h.Transport.Open(ctx, req)
	if err != nil {
		return nil, err
	}
	return &lw.Response{ReadCloser: &hastyBody{ReadCloser: body}}, nil
}

type hastyBody struct {
	io.ReadCloser
	line string // data that Read has not returned yet
}

// Read waits for complete lines, so that it can replace the annotation.
func (b *hastyBody) Read(p []byte) (n int, err error) {
	chunk := make([]byte, 4096)
	for b.line == "" || err == nil && !strings.HasSuffix(b.line, "\n") {
		if n, err = b.ReadCloser.Read(chunk); n == 0 && err != nil && b.line == "" {
			return 0, err
		}
		b.line += string(chunk[:n])
	}
	b.line = strings.ReplaceAll(b.line, `-end":"false"`, `-end":"true" `)
	n = copy(p, b.line)
	b.line = b.line[n:]
	return n, nil
}

// naiveFold applies events to a map, like the stores of other clients. Like those clients, it can have bugs: one if
// sweeps is false, one if begins is false, and one if hasty is true.
type naiveFold struct {
	sweeps bool // deletes objects that a list does not contain
	begins bool // forgets the objects of an unfinished list when another list starts
	hasty  bool // a deliberate defect: resumes even if the previous stream ended during a list

	source  lw.ListerWatcher[object]
	opts    *lw.Options
	held    map[lw.Key]object
	seen    map[lw.Key]bool
	listing bool
	version string
}

func (f naiveFold) engine(t lw.Transport, opts *lw.Options) Subject {
	f.source, f.opts, f.held, f.seen = Client(t), opts, map[lw.Key]object{}, map[lw.Key]bool{}
	return Subject{
		Deltas:  f.changes,
		Held:    func() []object { return slices.Collect(maps.Values(f.held)) },
		Version: func() string { return f.version },
	}
}

func (f *naiveFold) changes(ctx context.Context) iter.Seq2[event, []cache.Change[object]] {
	return func(yield func(event, []cache.Change[object]) bool) {
		var held lw.Held
		if f.hasty {
			held.ResourceVersion = f.version
		}
		for e := range lw.Resume(ctx, f.source, held, f.opts) {
			if !yield(e, f.fold(e)) {
				return
			}
		}
	}
}

func (f *naiveFold) fold(e event) (changes []cache.Change[object]) {
	switch e.Type {
	case lw.ListStarted:
		if f.begins || !f.listing {
			clear(f.seen)
		}
		f.listing = true
	case lw.Added, lw.Modified:
		key := lw.KeyOf(e.Object)
		change := cache.Change[object]{Type: lw.Added, Old: f.held[key], New: e.Object}
		if change.Old != nil {
			change.Type = lw.Modified
		}
		f.held[key], f.seen[key] = e.Object, true
		changes = append(changes, change)
	case lw.Deleted:
		changes = f.drop(changes, e.Object, false)
	case lw.Synced:
		f.listing = false
		for key, old := range f.held {
			if f.sweeps && !f.seen[key] {
				changes = f.drop(changes, old, true)
			}
		}
	}
	if e.ResourceVersion != "" {
		f.version = e.ResourceVersion
	}
	return changes
}

func (f *naiveFold) drop(changes []cache.Change[object], old object, missed bool) []cache.Change[object] {
	if f.held[lw.KeyOf(old)] == nil {
		return changes
	}
	delete(f.held, lw.KeyOf(old))
	return append(changes, cache.Change[object]{Type: lw.Deleted, Old: old, FinalStateUnknown: missed})
}
