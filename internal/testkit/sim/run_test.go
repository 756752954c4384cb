package sim

import (
	"bytes"
	"context"
	"hash/fnv"
	"iter"
	"log/slog"
	"time"

	"github.com/seed-6d2a410a/listwatch/cache"
	"github.com/seed-6d2a410a/listwatch/lw"
)

// Broken is an error that names the broken guarantee and describes how the engine broke it.
type Broken struct{ Promise, How string }

func (b *Broken) Error() string { return b.Promise + ": " + b.How }

// Subject is an engine under test that follows one collection.
type Subject struct {
	Deltas  func(context.Context) iter.Seq2[lw.Event[*lw.Object], []cache.Change[*lw.Object]]
	Held    func() []*lw.Object
	Version func() string
	State   func() lw.State // nil for subjects without states

	// Reborn simulates a restart of the process, and returns the new process's subject. ok is false if there was no
	// state to save yet. Reborn is nil if the subject cannot save its state.
	Reborn func() (again Subject, ok bool)
}

// Engine returns a subject that uses the given transport and options.
type Engine func(lw.Transport, *lw.Options) Subject

// Real returns a subject that uses the real engine.
func Real(transport lw.Transport, opts *lw.Options) Subject { return Reflect(Client(transport), opts) }

// Client returns a real client for the simulated collection.
func Client(transport lw.Transport) lw.ListerWatcher[*lw.Object] {
	return clientOf(transport, lw.RawCodec{})
}

func clientOf(transport lw.Transport, codec lw.Codec[*lw.Object]) lw.ListerWatcher[*lw.Object] {
	client, err := lw.NewClient(transport, lw.Resource{Version: "v1", Plural: watched}, codec, nil)
	if err != nil {
		panic(err)
	}
	return client
}

// Reflect returns a subject that runs a cache.Informer with the given source.
func Reflect(source lw.ListerWatcher[*lw.Object], opts *lw.Options) Subject {
	return subjectOf(cache.NewInformer(source, opts), source, opts)
}

func subjectOf(r *cache.Informer[*lw.Object], source lw.ListerWatcher[*lw.Object], opts *lw.Options) Subject {
	reborn := func() (Subject, bool) {
		again := cache.NewInformer(source, opts)
		var state bytes.Buffer
		snapshot := r.Store().Snapshot()
		err := cache.Save(&state, snapshot, "", (*lw.Object).Raw)
		if err == nil {
			if err := again.Restore(&state, "", lw.ParseObject); err != nil {
				panic(err) // cannot happen, because Save wrote this state
			}
		} else if snapshot.ResourceVersion() != "" {
			panic(err)
		}
		return subjectOf(again, source, opts), err == nil
	}
	return Subject{Deltas: r.Follow, Held: r.Store().List, Version: r.Store().ResourceVersion, State: r.State, Reborn: reborn}
}

// Report is the result of a simulation.
type Report struct {
	Failure  error // type *Broken; nil if the engine kept all guarantees
	Trace    string
	Hash     uint64
	Requests int
	Resumed  int           // number of streams that started with a watch
	Settled  time.Duration // how long the store took to equal the server after the faults stopped
}

// Play simulates an engine. The seed determines all random numbers. Call Play in a synctest bubble.
func Play(seed uint64, engine Engine) Report {
	s := newSim(seed)
	s.random = newDice(seed, 2) // separate, so that the engine's random numbers do not change the world
	opts := &lw.Options{
		NoStreamingList: s.oneIn(2),
		PageSize:        []int{2, 3, 5, 500, -1}[s.IntN(5)],
		Warn:            slog.New(slog.DiscardHandler).Warn,
		Random:          s.random.Float64,
		Wall:            func() time.Time { return time.Now().Add(time.Duration(s.offset.Load())).Round(0) },
	}
	s.check.pageSize = opts.PageSize
	if s.oneIn(4) {
		s.check.stopsOn = true
		opts.StopOn = func(error) bool { return s.conn.rejection.final() }
	}
	if s.oneIn(4) {
		s.wake = make(chan struct{})
		opts.Wake = s.wake
	}
	subject := engine(s, opts)
	for !s.over() {
		s.run(subject)
		if subject.Reborn != nil && !s.check.loose && s.oneIn(3) {
			subject = s.reborn(subject)
		}
	}
	hash := fnv.New64a()
	hash.Write([]byte(s.log.String()))
	return Report{Failure: s.failure, Trace: s.log.String(), Hash: hash.Sum64(), Requests: s.asked, Resumed: s.check.resumed, Settled: s.check.settled.Sub(s.check.fair)}
}

// reborn simulates a restart of the process and returns the new subject.
func (s *sim) reborn(subject Subject) Subject {
	again, saved := subject.Reborn()
	s.trace("the process restarts, with saved state: %v", saved)
	s.check.reborn(saved)
	return again
}

// run runs one stream of the subject. Until the faults stop, the caller may end the stream at any time.
func (s *sim) run(subject Subject) {
	ctx, cancel := context.WithCancel(context.Background())
	var stop time.Time
	steps := -1
	switch {
	case s.calm:
	case s.oneIn(4):
		stop = time.Now().Add(s.upTo(40 * s.weather.pause))
		cancel()
		ctx, cancel = context.WithDeadline(context.Background(), stop)
	case s.oneIn(4):
		steps = s.IntN(200)
	}
	defer cancel()
	s.check.ctx = ctx
	s.check.begin(subject)
	s.trace("a stream starts")
	for event, changes := range subject.Deltas(ctx) {
		s.check.event(event, changes)
		if steps--; s.over() || steps == 0 {
			break
		}
		if s.strikes(slowCaller, 20*s.trouble) {
			d := s.upTo(4 * time.Minute)
			s.trace("! the caller delays the iteration by %v", d)
			time.Sleep(d)
			s.catchUp()
		}
		s.check.heard()
		s.check.requested = s.check.word
		if event.Interruption != nil && !event.Interruption.Final {
			s.check.wakeLater(event.Interruption.Delay)
		}
	}
	s.trace("the stream ended")
	s.check.ended(stop)
}
