package cache

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed-6d2a410a/listwatch/lw"
	"github.com/stretchr/testify/require"
)

// theater runs an informer whose server does what the test says, in a bubble.
type theater struct {
	t        *testing.T
	informer *Informer[*lw.Object]
	events   chan lw.Event[*lw.Object] // what the watch brings
	err      chan error                // what Run returned
	stop     context.CancelFunc
}

// inTheater runs a test with an informer whose first list holds these objects.
func inTheater(t *testing.T, words string, test func(*testing.T, *theater)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		th := &theater{t: t, events: make(chan lw.Event[*lw.Object]), err: make(chan error, 1)}
		th.informer = NewInformer(&live{first: strings.Fields(words), events: th.events}, plainLists())
		test(t, th)
		if th.stop != nil {
			th.stop()
			<-th.err
		}
	})
}

func (th *theater) run() {
	ctx, stop := context.WithCancel(th.t.Context())
	th.stop = stop
	go func() { th.err <- th.informer.Run(ctx) }()
	synctest.Wait()
}

// say lets the watch bring events, in the language of [script], and waits until all that follows has happened.
func (th *theater) say(words string) {
	for word := range strings.FieldsSeq(words) {
		th.send(word)
		synctest.Wait()
	}
}

// send does not wait.
func (th *theater) send(words string) {
	types := map[byte]lw.EventType{'+': lw.Added, '~': lw.Modified, '-': lw.Deleted}
	for word := range strings.FieldsSeq(words) {
		o := object(word[1:])
		th.events <- lw.Event[*lw.Object]{Type: types[word[0]], Object: o, ResourceVersion: o.GetResourceVersion()}
	}
}

// notes are what a handler was told, in the language of [stage.play]: "!" is for what was there at the beginning, "?" for
// a deletion that was not seen.
type notes struct {
	mu    sync.Mutex
	words []string
	hold  chan struct{} // if set, each call waits for an element
}

func (n *notes) handler() Handler[*lw.Object] {
	return Handler[*lw.Object]{
		Added: func(o *lw.Object, initial bool) {
			n.add("+"+o.Key().String()+"@"+o.GetResourceVersion(), initial, "!")
		},
		Updated: func(old, o *lw.Object) {
			n.add("~"+o.Key().String()+"@"+old.GetResourceVersion()+">"+o.GetResourceVersion(), false, "")
		},
		Deleted: func(o *lw.Object, stale bool) {
			n.add("-"+o.Key().String()+"@"+o.GetResourceVersion(), stale, "?")
		},
	}
}

func (n *notes) add(word string, marked bool, mark string) {
	if marked {
		word += mark
	}
	n.mu.Lock()
	n.words = append(n.words, word)
	n.mu.Unlock()
	if n.hold != nil {
		<-n.hold
	}
}

// take returns what was told since the last time.
func (n *notes) take() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	words := strings.Join(n.words, " ")
	n.words = nil
	return words
}

// TestHandlersAreTold: what was there at the beginning is marked as such, for early and for late handlers.
func TestHandlersAreTold(t *testing.T) {
	inTheater(t, "x@1 y@2", func(t *testing.T, th *theater) {
		var early, late notes
		th.informer.Handle(early.handler(), nil)
		th.run()
		require.Equal(t, "+x@1! +y@2!", early.take())
		th.say("~x@3 +z@4 -y@5")
		require.Equal(t, "~x@1>3 +z@4 -y@5", early.take())

		th.informer.Handle(late.handler(), nil)
		synctest.Wait()
		require.ElementsMatch(t, []string{"+x@3!", "+z@4!"}, strings.Fields(late.take()))
		th.say("-x@6")
		require.Equal(t, "-x@6 -x@6", early.take()+" "+late.take())
	})
}

// TestSyncedIsToldByHandlers: when they have been told of all that was there, and not when the store holds it.
func TestSyncedIsToldByHandlers(t *testing.T) {
	inTheater(t, "x@1", func(t *testing.T, th *theater) {
		slow := &notes{hold: make(chan struct{})}
		first := th.informer.Handle(slow.handler(), nil)
		second := th.informer.Handle(Handler[*lw.Object]{}, nil)
		th.run()
		require.True(t, isClosed(th.informer.Store().Synced()))
		require.False(t, isClosed(first.Synced()))
		require.True(t, isClosed(second.Synced()))
		require.False(t, isClosed(th.informer.Synced()))
		slow.hold <- struct{}{}
		synctest.Wait()
		require.True(t, isClosed(first.Synced()))
		require.True(t, isClosed(th.informer.Synced()))
		late := th.informer.Handle(Handler[*lw.Object]{}, nil)
		synctest.Wait()
		require.True(t, isClosed(late.Synced()))
	})
}

// TestSyncedOfNothing: an empty list, and no handlers, or one that is removed before.
func TestSyncedOfNothing(t *testing.T) {
	inTheater(t, "", func(t *testing.T, th *theater) {
		slow := &notes{hold: make(chan struct{})}
		handler := th.informer.Handle(slow.handler(), nil)
		require.False(t, isClosed(th.informer.Synced()))
		th.run()
		require.True(t, isClosed(handler.Synced()))
		require.True(t, isClosed(th.informer.Synced()))
	})
	inTheater(t, "x@1", func(t *testing.T, th *theater) {
		slow := &notes{hold: make(chan struct{})}
		handler := th.informer.Handle(slow.handler(), nil)
		th.run()
		handler.Remove()
		require.True(t, isClosed(th.informer.Synced()), "nobody is left to wait for")
		close(slow.hold)
		synctest.Wait()
		require.True(t, isClosed(handler.Done()))
	})
}

// TestFilterTurnsTransitions into additions and deletions.
func TestFilterTurnsTransitions(t *testing.T) {
	inTheater(t, "x@1#in y@2#out", func(t *testing.T, th *theater) {
		var n notes
		th.informer.Handle(n.handler(), &HandlerOptions[*lw.Object]{Filter: func(o *lw.Object) bool { return o.GetUID() == "in" }})
		th.run()
		require.Equal(t, "+x@1!", n.take())
		th.say("~y@3#in ~x@4#in ~x@5#out ~x@6#out -x@7#out -y@8#out +z@9#out")
		require.Equal(t, "+y@3 ~x@1>4 -x@4 -y@8", n.take(), "that the last state of a deletion does not match is no matter")
	})
}

// TestCoalesce: a handler that is too slow is told one change for each key, from what it knows to what is there.
func TestCoalesce(t *testing.T) {
	for name, c := range map[string]struct{ said, told string }{
		"updates":                  {"~x@3 ~x@4 ~x@5", "~x@1>5"},
		"updated and deleted":      {"~x@3 -x@4", "-x@4"},
		"deleted and made anew":    {"-x@3 +x@4", "~x@1>4"},
		"made anew and deleted":    {"-x@3 +x@4 -x@5", "-x@5"},
		"added and changed":        {"+z@3 ~z@4", "+z@4"},
		"came and went":            {"+z@3 ~z@4 -z@5 ~x@6", "~x@1>6"},
		"came, went, came":         {"+z@3 -z@4 ~x@5 +z@6", "~x@1>5 +z@6"},
		"no line is jumped":        {"~x@3 ~y@4 ~x@5", "~x@1>5 ~y@2>4"},
		"deleted, again and again": {"-x@3 +x@4 ~x@5 -x@6 +x@7", "~x@1>7"},
	} {
		t.Run(name, func(t *testing.T) {
			inTheater(t, "x@1 y@2 w@2", func(t *testing.T, th *theater) {
				n := &notes{}
				r := th.informer.Handle(n.handler(), nil)
				th.run()
				n.take()
				n.hold = make(chan struct{})
				th.say("~w@3") // it is busy with this
				n.take()
				th.say(c.said)
				require.Equal(t, len(strings.Fields(c.told)), r.Len())
				require.GreaterOrEqual(t, r.HighWater(), r.Len())
				time.Sleep(time.Minute)
				require.Equal(t, time.Minute, r.Lag())
				close(n.hold)
				synctest.Wait()
				require.Equal(t, c.told, n.take())
				require.Zero(t, r.Len())
				require.Zero(t, r.Lag())
			})
		})
	}
}

// TestBlock: the stream waits for a slow handler, and so do all others; nothing is lost.
func TestBlock(t *testing.T) {
	inTheater(t, "", func(t *testing.T, th *theater) {
		slow, other := &notes{hold: make(chan struct{})}, &notes{}
		r := th.informer.Handle(slow.handler(), &HandlerOptions[*lw.Object]{Policy: Block, Capacity: 2})
		th.informer.Handle(other.handler(), &HandlerOptions[*lw.Object]{Policy: KeepAll})
		th.run()
		go th.send("+a@3 ~a@4 ~a@5 ~a@6 ~a@7 ~a@8")
		synctest.Wait()
		require.Equal(t, "+a@3 ~a@3>4 ~a@4>5", other.take(), "one is being told, two wait")
		require.Equal(t, 2, r.Len())
		slow.hold <- struct{}{}
		synctest.Wait()
		require.Equal(t, "~a@5>6", other.take())
		close(slow.hold)
		synctest.Wait()
		require.Equal(t, "+a@3 ~a@3>4 ~a@4>5 ~a@5>6 ~a@6>7 ~a@7>8", slow.take())
		require.Equal(t, 2, r.HighWater())
	})
}

// TestBlockLetsGo: of a handler that is removed, and at the context's end.
func TestBlockLetsGo(t *testing.T) {
	inTheater(t, "", func(t *testing.T, th *theater) {
		slow, other := &notes{hold: make(chan struct{})}, &notes{}
		r := th.informer.Handle(slow.handler(), &HandlerOptions[*lw.Object]{Policy: Block, Capacity: 1})
		th.informer.Handle(other.handler(), &HandlerOptions[*lw.Object]{Policy: KeepAll})
		th.run()
		go th.send("+a@3 ~a@4 ~a@5 ~a@6")
		synctest.Wait()
		r.Remove()
		synctest.Wait()
		require.Equal(t, "+a@3 ~a@3>4 ~a@4>5 ~a@5>6", other.take())
		th.informer.Handle(slow.handler(), &HandlerOptions[*lw.Object]{Policy: Block, Capacity: 1})
		close(slow.hold)
	})
}

// TestKeepAll keeps what Coalesce would not.
func TestKeepAll(t *testing.T) {
	inTheater(t, "x@1", func(t *testing.T, th *theater) {
		slow := &notes{hold: make(chan struct{})}
		r := th.informer.Handle(slow.handler(), &HandlerOptions[*lw.Object]{Policy: KeepAll})
		th.run()
		th.say("~x@3 -x@4 +x@5 ~x@6")
		require.Equal(t, 4, r.Len())
		close(slow.hold)
		synctest.Wait()
		require.Equal(t, "+x@1! ~x@1>3 -x@4 +x@5 ~x@5>6", slow.take())
	})
}

// TestRemove: one of two, twice, by itself, and while a call is under way.
func TestRemove(t *testing.T) {
	inTheater(t, "x@1", func(t *testing.T, th *theater) {
		var gone, stays, once notes
		first := th.informer.Handle(gone.handler(), nil)
		th.informer.Handle(stays.handler(), nil)
		var self *Registration[*lw.Object]
		self = th.informer.Handle(Handler[*lw.Object]{Added: func(o *lw.Object, _ bool) {
			once.add(o.GetName(), false, "")
			self.Remove()
		}}, nil)
		th.run()
		first.Remove()
		first.Remove()
		th.say("~x@3 +y@4")
		require.Equal(t, "+x@1!", gone.take())
		require.Equal(t, "+x@1! ~x@1>3 +y@4", stays.take())
		require.Equal(t, "x", once.take())
		for _, r := range []*Registration[*lw.Object]{first, self} {
			require.True(t, isClosed(r.Done()))
			require.NoError(t, r.Drain(t.Context()), "nothing is left to wait for")
		}
	})
}

// TestDrain returns when the last call has returned, and has been told all that waited.
func TestDrain(t *testing.T) {
	inTheater(t, "x@1", func(t *testing.T, th *theater) {
		slow := &notes{hold: make(chan struct{})}
		r := th.informer.Handle(slow.handler(), nil)
		th.run()
		th.say("+y@3")
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		require.Equal(t, context.DeadlineExceeded, r.Drain(ctx))
		th.say("+z@4")
		drained := make(chan error)
		go func() { drained <- r.Drain(t.Context()) }()
		slow.hold <- struct{}{}
		synctest.Wait()
		require.Equal(t, "+x@1! +y@3", slow.take(), "what came after the first call of Drain is not told")
		require.False(t, isClosed(r.Done()), "a call is under way")
		slow.hold <- struct{}{}
		require.NoError(t, <-drained)
	})
}

// TestTheSameHandlerTwice makes two registrations.
func TestTheSameHandlerTwice(t *testing.T) {
	inTheater(t, "x@1", func(t *testing.T, th *theater) {
		var n notes
		th.informer.Handle(n.handler(), nil)
		second := th.informer.Handle(n.handler(), nil)
		th.run()
		require.Equal(t, "+x@1! +x@1!", n.take())
		second.Remove()
		th.say("~x@3")
		require.Equal(t, "~x@1>3", n.take())
	})
}

// TestRunAgain: what was not told is told then; handlers may come and go while nothing runs.
func TestRunAgain(t *testing.T) {
	inTheater(t, "x@1 y@2", func(t *testing.T, th *theater) {
		slow := &notes{hold: make(chan struct{})}
		th.informer.Handle(slow.handler(), nil)
		never := th.informer.Handle(Handler[*lw.Object]{Added: func(*lw.Object, bool) { t.Error("it was removed") }}, nil)
		never.Remove()
		require.True(t, isClosed(never.Done()))
		th.run()
		th.stop()
		synctest.Wait()
		require.Empty(t, th.err, "a handler is still being called")
		close(slow.hold)
		require.Equal(t, context.Canceled, <-th.err)
		require.Equal(t, "+x@1!", slow.take())

		var between notes
		th.informer.Handle(between.handler(), nil)
		th.run()
		require.Equal(t, "+y@2!", slow.take())
		require.ElementsMatch(t, []string{"+x@1!", "+y@2!"}, strings.Fields(between.take()))
	})
}

// TestTwoInformerRunsPanic, as two of a reflector do.
func TestTwoInformerRunsPanic(t *testing.T) {
	inTheater(t, "", func(t *testing.T, th *theater) {
		th.run()
		require.Panics(t, func() { _ = th.informer.Run(t.Context()) })
	})
}

// TestPanicIsReported, with its stack; the change is skipped, and the handler goes on.
func TestPanicIsReported(t *testing.T) {
	inTheater(t, "x@1", func(t *testing.T, th *theater) {
		var n notes
		var values []any
		h := n.handler()
		h.Updated = func(_, o *lw.Object) { panic(o.GetName() + " is wrong") }
		r := th.informer.Handle(h, &HandlerOptions[*lw.Object]{OnPanic: func(value any, stack []byte) {
			values = append(values, value)
			require.Contains(t, string(stack), "TestPanicIsReported")
		}})
		th.run()
		th.say("~x@3 +y@4")
		require.Equal(t, "+x@1! +y@4", n.take())
		require.Equal(t, []any{"x is wrong"}, values)
		require.True(t, isClosed(r.Synced()))
	})
}

// TestChanges: the loop's form, which may be left at any time.
func TestChanges(t *testing.T) {
	inTheater(t, "x@1", func(t *testing.T, th *theater) {
		var told []string
		left := make(chan bool)
		go func() {
			defer close(left)
			for c := range th.informer.Changes(t.Context(), nil) {
				told = append(told, fmt.Sprint(c.Type, c.Initial))
				if c.Type == Deleted {
					break
				}
			}
		}()
		th.run()
		th.say("~x@3 -x@4 +y@5")
		<-left
		require.Equal(t, []string{"Added true", "Updated false", "Deleted false"}, told)
		require.Empty(t, th.informer.handlers)

		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		for c := range th.informer.Changes(ctx, nil) {
			require.Equal(t, "y", c.New.GetName())
		}
		require.Error(t, ctx.Err())
	})
}

// TestManyComeAndGo: a hundred goroutines add and remove handlers while objects change. The race detector looks on.
func TestManyComeAndGo(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	source := &live{events: make(chan lw.Event[*lw.Object])}
	informer := NewInformer(source, plainLists())
	err := make(chan error, 2)
	go func() { err <- informer.Run(ctx) }()
	go func() { err <- source.comeAndGo(ctx) }()
	var group sync.WaitGroup
	for n := range 100 {
		group.Go(func() {
			for i := range 5 {
				told := make(chan struct{}, 1)
				tell := func(*lw.Object, bool) { notify(told) }
				policy := Policy((n + i) % 3)
				r := informer.Handle(Handler[*lw.Object]{Added: tell, Deleted: tell}, &HandlerOptions[*lw.Object]{Policy: policy, Capacity: 3})
				<-told
				if i%2 == 0 {
					r.Remove()
					<-r.Done()
				} else if r.Drain(ctx) != nil {
					t.Error("it was not drained")
				}
			}
		})
	}
	group.Wait()
	cancel()
	require.Equal(t, context.Canceled, <-err)
	require.Equal(t, context.Canceled, <-err)
	require.Empty(t, informer.handlers)
	require.Empty(t, informer.resting)
}

// TestHandlersFollowRandomLives: whatever the policy, and however slow a handler is, what it is told is a legal sequence
// for every key, and comes to what the store holds in the end.
func TestHandlersFollowRandomLives(t *testing.T) {
	for seed := range uint64(40) {
		synctest.Test(t, func(t *testing.T) {
			random := rand.New(rand.NewPCG(seed, 1))
			ctx, cancel := context.WithCancel(t.Context())
			w := &world{Rand: rand.New(rand.NewPCG(seed, 0)), requests: 20}
			w.end = func() { <-ctx.Done() } // the last watch is silent, until all handlers have caught up
			informer := NewInformer(w, &lw.Options{PageSize: 2, NoStreamingList: true})
			var sums []fold
			for policy := range KeepAll + 1 {
				for range 2 {
					sum, slow, random := fold{}, random.IntN(3), rand.New(rand.NewPCG(seed, uint64(len(sums))))
					sums = append(sums, sum)
					informer.Handle(strict(t, sum, func() {
						time.Sleep(time.Duration(slow*slow*random.IntN(2000)) * time.Millisecond)
					}), &HandlerOptions[*lw.Object]{Policy: policy, Capacity: 5, Resync: time.Duration(random.IntN(3)) * time.Minute})
				}
			}
			done := make(chan error)
			go func() { done <- informer.Run(ctx) }()
			time.Sleep(3 * time.Hour)
			cancel()
			<-done
			for _, sum := range sums {
				sum.equal(t, informer.Store())
			}
		})
	}
}

// strict is a handler that folds what it is told, and finds fault with what is illegal. It calls pause each time.
func strict(t *testing.T, sum fold, pause func()) Handler[*lw.Object] {
	return Handler[*lw.Object]{
		Added: func(o *lw.Object, _ bool) {
			pause()
			require.Nil(t, sum[o.Key()], "added twice: %v", o.Key())
			sum[o.Key()] = o
		},
		Updated: func(old, o *lw.Object) {
			pause()
			require.NotNil(t, sum[o.Key()], "updated, and not there: %v", o.Key())
			require.True(t, sum[o.Key()] == old, "%v was told as another before", o.Key())
			sum[o.Key()] = o
		},
		Deleted: func(o *lw.Object, _ bool) {
			pause()
			require.NotNil(t, sum[o.Key()], "deleted, and not there: %v", o.Key())
			delete(sum, o.Key())
		},
	}
}
