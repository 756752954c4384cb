package recording

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/seed-6d2a410a/listwatch/lw"
)

// Playback is one collection's view of a player: a transport, and the recorded time that it has reached. Only one goroutine
// may use that of a collection.
type Playback struct {
	player *Player
	number int
	now    atomic.Int64
}

var _ lw.Transport = (*Playback)(nil)

// place is where a view is.
type place struct {
	at   int64 // what it waits to play, or has played last
	busy bool  // its reader has that and may still be at work on it
}

// Discovery returns a view for what is asked before any collection is followed.
func (p *Player) Discovery() *Playback { return &Playback{player: p} }

// Collection returns a view for one collection, which must be closed. All that were made before the first of them is used
// are played side by side: nothing is given to one until the others are done with all that was recorded before.
func (p *Player) Collection() *Playback {
	p.mu.Lock()
	defer p.mu.Unlock()
	c := &Playback{player: p, number: len(p.views) + 1}
	p.views[c] = place{busy: true}
	return c
}

// Close says that a view is not used any more.
func (c *Playback) Close() {
	c.player.mu.Lock()
	defer c.player.mu.Unlock()
	delete(c.player.views, c)
	c.player.wake()
}

func (p *Player) wake() {
	close(p.moved)
	p.moved = make(chan struct{})
}

// reach waits until it is time for what was recorded at a time, and this view's turn.
func (c *Playback) reach(ctx context.Context, at int64) error {
	p := c.player
	p.begin.Do(func() { p.begun = time.Now() })
	p.move(c, place{at: at})
	if p.speed > 0 {
		timer := time.NewTimer(time.Until(p.begun.Add(time.Duration(float64(at) / p.speed))))
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-ctx.Done():
		}
	}
	for ctx.Err() == nil {
		moved, its := p.turn(c, at)
		if its {
			c.now.Store(at)
			return nil
		}
		select {
		case <-moved:
		case <-ctx.Done():
		}
	}
	return context.Cause(ctx)
}

func (p *Player) move(c *Playback, to place) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, ok := p.views[c]; ok {
		p.views[c] = to
		p.wake()
	}
}

// turn takes the turn of a view, unless another is before it: then moved is closed when that may have changed.
func (p *Player) turn(c *Playback, at int64) (moved <-chan struct{}, its bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for other, is := range p.views {
		before := is.at < at || is.at == at && (is.busy || other.number < c.number)
		if other != c && before {
			return p.moved, false
		}
	}
	if _, ok := p.views[c]; ok {
		p.views[c] = place{at: at, busy: true}
	}
	return nil, true
}
