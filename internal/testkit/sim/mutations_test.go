package sim

import (
	"context"
	"errors"
	"iter"
	"testing"
	"time"

	"github.com/seed-6d2a410a/listwatch/lw"
)

// TestMutations: bugs that other clients have or had are found within a few thousand seeds, each by the promise that it
// breaks. They are put around the engine, so that it needs no hooks.
//
//	| bug                                                                          | promise that it breaks         |
//	| ---------------------------------------------------------------------------- | ------------------------------ |
//	| a streaming list is tried for ever (client-go, where its end is not marked)  | converges                      |
//	| a streaming list that ended early is tried again without a delay (client-go) | paced; relists seldom          |
//	| a delay outlives the context's end (client-go)                               | stops at once                  |
//	| no deadline of the client's own (client-go on HTTP/1.1)                      | notices silence                |
//	| an instant clean end is an end like others (kube-rs, OpenShift console)      | says what is stale             |
//	| HTTP 410 leads to a watch from the same version (RetryWatcher, kube-rs)      | relists; converges             |
//	| the annotation's presence marks the end, whatever its value (kube-rs)        | the fold is the server's state |
//	| a list that begins again is not swept of what the first try saw (kube-rs)    | the fold is the server's state |
//	| a streaming list of version "0", after others (kube-rs)                      | never goes back                |
//	| a fold that does not sweep                                                   | the fold is the server's state |
//	| an object is known by its version alone, whatever was restored               | the fold is the server's state |
//	| every watch from the list's version (OpenShift console)                      | resumable                      |
//	| a second run resumes where the first ended within a list                     | resumable                      |
//	| a full buffer drops an event (OpenShift console)                             | ordered, unique, reliable; or  |
//	|                                                                              | bookmarkable                   |
func TestMutations(t *testing.T) {
	cases := map[string]struct {
		engine  Engine
		promise string
	}{
		"streams for ever":        {mutant{watch: streamsForEver}.engine, "converges"},
		"streams without a delay": {mutant{watch: streamsWithoutDelay}.engine, "paced; relists seldom"},
		"waits regardless":        {mutant{watch: waitsRegardless}.engine, "stops at once"},
		"no deadline":             {func(t lw.Transport, o *lw.Options) Subject { return Real(patient{t}, o) }, "notices silence"},
		"instant ends go on":      {mutant{watch: endsGoOn}.engine, "says what is stale"},
		"410 goes on":             {mutant{watch: expiredGoesOn}.engine, "relists; converges"},
		"any annotation":          {func(t lw.Transport, o *lw.Options) Subject { return Real(hasty{t}, o) }, "the fold is the server's state"},
		"no new beginning":        {naiveFold{sweeps: true}.engine, "the fold is the server's state"},
		"streams from zero":       {mutant{watch: streamsFromZero}.engine, "never goes back"},
		"no sweep":                {naiveFold{begins: true}.engine, "the fold is the server's state"},
		"known by version":        {versionsSuffice, "the fold is the server's state"},
		"pinned version":          {mutant{watch: pinnedVersion()}.engine, "resumable"},
		"resumes within a list":   {naiveFold{sweeps: true, begins: true, hasty: true}.engine, "resumable"},
		"drops events":            {mutant{watch: dropsEvents}.engine, "ordered, unique, reliable; bookmarkable"}, // whichever comes first,
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			found(t, c.engine, c.promise)
		})
	}
}

// trusting is a codec that cannot compare an object with its text.
type trusting struct{ lw.Codec[object] }

func versionsSuffice(t lw.Transport, opts *lw.Options) Subject {
	return Reflect(clientOf(t, trusting{lw.RawCodec{}}), opts)
}

type (
	object  = *lw.Object
	event   = lw.Event[object]
	watches = func(context.Context, lw.WatchOptions) iter.Seq2[event, error]
)

// mutant is the real client with another Watch.
type mutant struct {
	lw.ListerWatcher[object]
	watch func(watches) watches
}

// StreamsLists is true, as it is of the client within.
func (m mutant) StreamsLists() bool { return true }

func (m mutant) engine(t lw.Transport, opts *lw.Options) Subject {
	m.ListerWatcher = Client(t)
	return Reflect(m, opts)
}

func (m mutant) Watch(ctx context.Context, opts lw.WatchOptions) iter.Seq2[event, error] {
	return m.watch(m.ListerWatcher.Watch)(ctx, opts)
}

// retold tells the failures of a watch, and its end as nil, in another way: as another error, or nil for a clean end.
func retold(watch watches, tell func(ctx context.Context, opts lw.WatchOptions, synced bool, err error) error) watches {
	return func(ctx context.Context, opts lw.WatchOptions) iter.Seq2[event, error] {
		return func(yield func(event, error) bool) {
			var end error
			synced := false
			for e, err := range watch(ctx, opts) {
				if end = err; err == nil && !yield(e, nil) {
					return
				}
				synced = synced || e.Type == lw.Synced
			}
			if err := tell(ctx, opts, synced, end); err != nil {
				yield(event{}, err)
			}
		}
	}
}

func streamsForEver(watch watches) watches {
	return retold(watch, func(_ context.Context, opts lw.WatchOptions, synced bool, err error) error {
		if opts.SendInitialEvents && !synced {
			return errReset
		}
		return err
	})
}

func streamsWithoutDelay(watch watches) watches {
	return func(ctx context.Context, opts lw.WatchOptions) iter.Seq2[event, error] {
		return func(yield func(event, error) bool) {
			for again := true; again; {
				again = opts.SendInitialEvents
				for e, err := range watch(ctx, opts) {
					if !yield(e, err) {
						return
					}
					again = again && e.Type != lw.Synced && err == nil
				}
			}
		}
	}
}

func waitsRegardless(watch watches) watches {
	return retold(watch, func(_ context.Context, _ lw.WatchOptions, _ bool, err error) error {
		if err != nil {
			time.Sleep(time.Second)
		}
		return err
	})
}

// endsGoOn watches on at once, from the same version, when a watch ended at once and brought nothing.
func endsGoOn(watch watches) watches {
	return func(ctx context.Context, opts lw.WatchOptions) iter.Seq2[event, error] {
		return func(yield func(event, error) bool) {
			for again := true; again; {
				n, began := 0, time.Now()
				for e, err := range watch(ctx, opts) {
					if n++; !yield(e, err) || err != nil {
						return
					}
				}
				again = n == 1 && !opts.SendInitialEvents && time.Since(began) < time.Second
			}
		}
	}
}

func expiredGoesOn(watch watches) watches {
	return retold(watch, func(_ context.Context, opts lw.WatchOptions, _ bool, err error) error {
		if !opts.SendInitialEvents && errors.Is(err, lw.ErrExpired) {
			return errReset
		}
		return err
	})
}

func streamsFromZero(watch watches) watches {
	return func(ctx context.Context, opts lw.WatchOptions) iter.Seq2[event, error] {
		if opts.SendInitialEvents {
			opts.ResourceVersion = "0"
		}
		return watch(ctx, opts)
	}
}

func pinnedVersion() func(watches) watches {
	pinned := ""
	return func(watch watches) watches {
		return func(ctx context.Context, opts lw.WatchOptions) iter.Seq2[event, error] {
			if pinned == "" && !opts.SendInitialEvents {
				pinned = opts.ResourceVersion
			}
			if !opts.SendInitialEvents {
				opts.ResourceVersion = pinned
			}
			return watch(ctx, opts)
		}
	}
}

func dropsEvents(watch watches) watches {
	return func(ctx context.Context, opts lw.WatchOptions) iter.Seq2[event, error] {
		return func(yield func(event, error) bool) {
			n := 0
			for e, err := range watch(ctx, opts) {
				if n++; n%10 != 0 && !yield(e, err) {
					return
				}
			}
		}
	}
}
