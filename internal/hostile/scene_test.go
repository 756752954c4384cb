package hostile

import (
	"context"
	"errors"
	"flag"
	"log/slog"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed-6d2a410a/listwatch/cache"
	"github.com/seed-6d2a410a/listwatch/lw"
)

var seeds = flag.Uint64("hostile.seeds", 1, "number of seeds for each server")

// ordinary makes a client request ordinary lists with small pages.
var ordinary = lw.Options{NoStreamingList: true, PageSize: pageSize}

// hostileFor is how long a server misbehaves.
const hostileFor = 10 * time.Minute

// early is the time at which the second run of each scenario cancels its context. The value is irregular, so that the
// cancellation does not coincide with anything that a scenario does at regular intervals.
const early = 3*time.Minute + 21*time.Second + 700*time.Millisecond

// play runs each scenario twice. The first run lasts until the server has stopped misbehaving and the store has
// recovered. The second run cancels the context early. If a server supports streaming lists, play runs it twice more
// with a client that requests ordinary lists.
func play(t *testing.T, scenarios []Scenario) {
	t.Parallel()
	for _, s := range scenarios {
		t.Run(s.Name, func(t *testing.T) {
			t.Parallel()
			for s.Seed = range *seeds {
				s.play(t)
				if !s.Lists {
					plain := s
					plain.Lists = true
					plain.play(t)
				}
			}
		})
	}
}

func (s *Scenario) play(t *testing.T) {
	for _, end := range []time.Duration{0, early} {
		synctest.Test(t, func(t *testing.T) { s.run(t, end, nil) })
	}
}

// run follows a server that plays the scenario. If options is nil, its client uses options that suit the scenario.
func (s *Scenario) run(t *testing.T, end time.Duration, options *lw.Options) {
	m := s.Start()
	w := m.World
	source, secret, closeWire := s.source(t, m)
	defer closeWire()
	client, err := lw.NewClient(source, lw.Resource{Version: "v1", Plural: "configmaps", Namespace: namespace}, lw.RawCodec{}, &lw.ClientOptions{MaxFrame: 1 << 20})
	require.NoError(t, err)
	var opts lw.Options
	switch {
	case options != nil:
		opts = *options
	case s.Lists:
		opts = ordinary
	}
	opts.Warn, opts.Random = slog.New(slog.DiscardHandler).Warn, rand.New(rand.NewPCG(s.Seed, 11)).Float64
	informer := cache.NewInformer(client, &opts)
	j := &judge{world: w, nameless: s.nameless, slow: s.slow, trust: !s.Lies, store: informer.Store(), held: map[lw.Key]*lw.Object{}, counts: map[string]int{}, large: 500, texts: secret}
	if opts.PageSize > 0 {
		j.large = opts.PageSize
	}
	ctx, cancel := context.WithCancel(lw.WithTrace(t.Context(), j.trace()))
	defer cancel()
	over := make(chan struct{})
	go func() {
		defer close(over)
		for event, changes := range informer.Follow(ctx) {
			j.event(event, changes)
		}
	}()
	go func() {
		for {
			select {
			case <-time.After(w.Pause()):
				w.Step()
			case <-ctx.Done():
				return
			}
		}
	}()
	if end > 0 {
		time.Sleep(end)
	} else {
		s.recovers(t, m, j)
	}
	cancel()
	canceled := time.Now()
	<-over
	synctest.Wait()
	require.Zero(t, time.Since(canceled), "the stream must end immediately")
	require.Zero(t, m.open.Load(), "no request may remain open")
	j.finish(t, s)
}

// recovers makes the server behave after ten minutes. It then records a fault if the store does not become correct within
// the bound, or if it does not stay correct.
func (s *Scenario) recovers(t *testing.T, m *Server, j *judge) {
	j.unversioned()
	j.lock(func() {
		for _, cause := range s.Causes {
			if !matches(j.causes, cause) {
				j.fault("the stream did not report %v; it reported %v", cause, distinct(j.causes))
			}
		}
	})
	if s.slow && matches(j.causes, lw.ErrSilent) {
		j.lock(func() { j.fault("the stream took a slow server for a silent one: %v", distinct(j.causes)) })
	}
	m.mustList.Store(s.Lies && !s.Restart)
	m.honest.Store(true)
	bound := 15 * time.Minute
	if s.Restart {
		bound = 27 * time.Minute
	}
	began, good := time.Now(), time.Time{}
	for time.Since(began) < bound+2*time.Minute {
		time.Sleep(time.Second)
		synctest.Wait()
		j.lock(func() {
			revision, known := j.world.revisionOf(j.store.ResourceVersion())
			right := known && j.last == lw.WatchStarted && j.store.ResourceVersion() != "" && j.difference() == "" &&
				(revision == j.world.now() || differ(j.store.Snapshot(), j.world.at(revision)) == "")
			switch {
			case !right:
				good = time.Time{}
			case good.IsZero():
				good = time.Now()
			}
		})
	}
	if good.IsZero() || good.Sub(began) > bound {
		j.fault("%v after the server recovered, the store is wrong or no watch is open", bound)
		return
	}
	t.Logf("%s: recovered after %v with %d requests and %d interruptions: %v", s.Does, good.Sub(began), len(j.requests), len(j.causes), distinct(j.causes))
}

// unversioned checks the store every second for ten minutes. It records a fault if a store without a resourceVersion
// differs from the server for more than a minute while a watch is open.
func (j *judge) unversioned() {
	wrong := time.Time{}
	for began := time.Now(); time.Since(began) < hostileFor; time.Sleep(time.Second) {
		synctest.Wait()
		j.lock(func() {
			diff := j.difference()
			if diff == "" || !j.trust || j.last != lw.WatchStarted || j.store.ResourceVersion() != "" {
				wrong = time.Now()
			} else if time.Since(wrong) > time.Minute {
				j.fault("the store was wrong for a minute while a watch was open: %s", diff)
			}
		})
	}
}

func (j *judge) finish(t *testing.T, s *Scenario) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.rates()
	require.Empty(t, j.faults, "%s\n%s", s.Does, strings.Join(j.faults, "\n"))
}

func matches(causes []error, target error) bool {
	for _, cause := range causes {
		if errors.Is(cause, target) {
			return true
		}
	}
	return false
}

// distinct counts causes by message, truncating messages to 150 bytes.
func distinct(causes []error) map[string]int {
	count := map[string]int{}
	for _, cause := range causes {
		text := cause.Error()
		count[text[:min(len(text), 150)]]++
	}
	return count
}
