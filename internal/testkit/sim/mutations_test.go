package sim

import (
	"context"
	"errors"
	"iter"
	"testing"
	"time"

	"github.com/seed-6d2a410a/listwatch/lw"
)

// TestFindsBugsOfOtherClients checks that the simulation finds bugs of other clients within 5,000 seeds, and that each
// bug breaks the expected guarantee. Wrappers of the engine add the bugs, so the engine needs no test hooks.
//
//	| bug                                                                      | broken guarantee               |
//	| ------------------------------------------------------------------------ | ------------------------------ |
//	| retries a streaming list forever if its end is not marked (client-go)    | converges                      |
//	| retries a streaming list that ended early without a delay (client-go)    | limits requests or relists     |
//	| a delay continues after the context is done (client-go)                  | stops immediately              |
//	| no client-side timeout (client-go with HTTP/1.1)                         | detects silence                |
//	| handles immediate clean ends like other ends (kube-rs, OpenShift)        | reports staleness              |
//	| resumes from the same resourceVersion after 410 (RetryWatcher, kube-rs)  | relists; converges             |
//	| ignores the value of the initial-events-end annotation (kube-rs)         | equals the server's state      |
//	| keeps objects of an unfinished list when the list restarts (kube-rs)     | equals the server's state      |
//	| streaming list at resourceVersion "0" after other lists (kube-rs)        | never decreases                |
//	| relists do not delete objects                                            | equals the server's state      |
//	| compares objects only by resourceVersion, even after a restore           | equals the server's state      |
//	| every watch starts at the list's resourceVersion (OpenShift)             | resumable                      |
//	| a second run resumes although the first ended during a list              | resumable                      |
//	| a full buffer drops an event (OpenShift)                                 | ordered, unique, reliable; or  |
//	|                                                                          | bookmarkable                   |
func TestFindsBugsOfOtherClients(t *testing.T) {
	cases := map[string]struct {
		engine  Engine
		promise string
	}{
		"endless retries of a streaming list":                {mutant{watch: streamsForEver}.engine, "converges"},
		"retries of a streaming list without a delay":        {mutant{watch: streamsWithoutDelay}.engine, "limits requests; limits relists"},
		"delay after the context is done":                    {mutant{watch: waitsRegardless}.engine, "stops immediately"},
		"no client-side timeout":                             {func(t lw.Transport, o *lw.Options) Subject { return Real(patient{t}, o) }, "detects silence"},
		"immediate end of a watch not reported":              {mutant{watch: endsGoOn}.engine, "reports staleness"},
		"resume after 410":                                   {mutant{watch: expiredGoesOn}.engine, "relists; converges"},
		"value of the initial-events-end annotation ignored": {func(t lw.Transport, o *lw.Options) Subject { return Real(hasty{t}, o) }, "equals the server's state"},
		"objects of an unfinished list kept":                 {naiveFold{sweeps: true}.engine, "equals the server's state"},
		"streaming list at resourceVersion 0":                {mutant{watch: streamsFromZero}.engine, "never decreases"},
		"relists that delete no objects":                     {naiveFold{begins: true}.engine, "equals the server's state"},
		"objects compared only by resourceVersion":           {versionsSuffice, "equals the server's state"},
		"every watch starts at the list's resourceVersion":   {mutant{watch: pinnedVersion()}.engine, "resumable"},
		"resume during a list":                               {naiveFold{sweeps: true, begins: true, hasty: true}.engine, "resumable"},
		"dropped events":                                     {mutant{watch: dropsEvents}.engine, "ordered, unique, reliable; bookmarkable"}, // the broken guarantee depends on the seed
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			found(t, c.engine, c.promise)
		})
	}
}

// trusting is a codec that assumes that objects with the same resourceVersion are equal.
type trusting struct{ lw.RawCodec }

func (trusting) Identity() lw.Identity[object] {
	identity := lw.RawCodec{}.Identity()
	identity.Same = nil
	return identity
}

func versionsSuffice(t lw.Transport, opts *lw.Options) Subject {
	return Reflect(clientOf(t, trusting{}), opts)
}

type (
	object  = *lw.Object
	event   = lw.Event[object]
	watches = func(context.Context, lw.ListOptions) iter.Seq2[event, error]
)

// mutant is the real client with a different Watch method.
type mutant struct {
	lw.ListerWatcher[object]
	watch func(watches) watches
}

func (m mutant) StreamsLists() bool { return true }

func (m mutant) engine(t lw.Transport, opts *lw.Options) Subject {
	m.ListerWatcher = Client(t)
	return Reflect(m, opts)
}

func (m mutant) Watch(ctx context.Context, opts lw.ListOptions) iter.Seq2[event, error] {
	return m.watch(m.ListerWatcher.Watch)(ctx, opts)
}

// replaceEnd returns a function like `watch` whose watches end with the error that `replace` returns. replace receives
// the original error, or nil after a clean end.
func replaceEnd(watch watches, replace func(ctx context.Context, opts lw.ListOptions, synced bool, err error) error) watches {
	return func(ctx context.Context, opts lw.ListOptions) iter.Seq2[event, error] {
		return func(yield func(event, error) bool) {
			var end error
			synced := false
			for e, err := range watch(ctx, opts) {
				if end = err; err == nil && !yield(e, nil) {
					return
				}
				synced = synced || e.Type == lw.Synced
			}
			if err := replace(ctx, opts, synced, end); err != nil {
				yield(event{}, err)
			}
		}
	}
}

func streamsForEver(watch watches) watches {
	return replaceEnd(watch, func(_ context.Context, opts lw.ListOptions, synced bool, err error) error {
		if opts.SendInitialEvents && !synced {
			return errReset
		}
		return err
	})
}

func streamsWithoutDelay(watch watches) watches {
	return func(ctx context.Context, opts lw.ListOptions) iter.Seq2[event, error] {
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
	return replaceEnd(watch, func(_ context.Context, _ lw.ListOptions, _ bool, err error) error {
		if err != nil {
			time.Sleep(time.Second)
		}
		return err
	})
}

// endsGoOn returns a watch function that hides an immediate clean end and restarts the watch.
func endsGoOn(watch watches) watches {
	return func(ctx context.Context, opts lw.ListOptions) iter.Seq2[event, error] {
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
	return replaceEnd(watch, func(_ context.Context, opts lw.ListOptions, _ bool, err error) error {
		if !opts.SendInitialEvents && errors.Is(err, lw.ErrExpired) {
			return errReset
		}
		return err
	})
}

func streamsFromZero(watch watches) watches {
	return func(ctx context.Context, opts lw.ListOptions) iter.Seq2[event, error] {
		if opts.SendInitialEvents {
			opts.ResourceVersion = "0"
		}
		return watch(ctx, opts)
	}
}

func pinnedVersion() func(watches) watches {
	pinned := ""
	return func(watch watches) watches {
		return func(ctx context.Context, opts lw.ListOptions) iter.Seq2[event, error] {
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
	return func(ctx context.Context, opts lw.ListOptions) iter.Seq2[event, error] {
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
