package recording

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/seed-6d2a410a/listwatch/lw"
)

// Playback is a view of a player for one collection. It implements [lw.Transport] and keeps the recorded time. Only one
// goroutine may use the view of a collection.
type Playback struct {
	player  *Player
	number  int
	reached atomic.Int64
}

var _ lw.Transport = (*Playback)(nil)

// position is the progress of a view.
type position struct {
	offset int64 // recorded time that the view has reached or waits for
	active bool  // the reader may still process the entry at this time
}

// Discovery returns a view for discovery requests. It does not wait for other views.
func (p *Player) Discovery() *Playback { return &Playback{player: p} }

// Collection returns a view for one collection. The caller must close it. A view waits until all other views have
// processed the earlier entries. Create all views before using the first one.
func (p *Player) Collection() *Playback {
	p.mu.Lock()
	defer p.mu.Unlock()
	c := &Playback{player: p, number: len(p.views) + 1}
	p.views[c] = position{active: true}
	return c
}

// Close closes a view, so that other views no longer wait for it.
func (c *Playback) Close() {
	c.player.mu.Lock()
	defer c.player.mu.Unlock()
	delete(c.player.views, c)
	c.player.notify()
}

func (p *Player) notify() {
	close(p.changed)
	p.changed = make(chan struct{})
}

// wait blocks until the recorded time is due and all other views have reached it.
func (c *Playback) wait(ctx context.Context, at int64) error {
	p := c.player
	p.startOnce.Do(func() { p.started = time.Now() })
	p.setPosition(c, position{offset: at})
	if p.speed > 0 {
		timer := time.NewTimer(time.Until(p.started.Add(time.Duration(float64(at) / p.speed))))
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-ctx.Done():
		}
	}
	for ctx.Err() == nil {
		moved, its := p.tryAdvance(c, at)
		if its {
			c.reached.Store(at)
			return nil
		}
		select {
		case <-moved:
		case <-ctx.Done():
		}
	}
	return context.Cause(ctx)
}

func (p *Player) setPosition(c *Playback, to position) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, ok := p.views[c]; ok {
		p.views[c] = to
		p.notify()
	}
}

// tryAdvance advances a view unless another view must go first. In that case it returns a channel that is closed when a
// view changes.
func (p *Player) tryAdvance(c *Playback, at int64) (moved <-chan struct{}, its bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for other, is := range p.views {
		before := is.offset < at || is.offset == at && (is.active || other.number < c.number)
		if other != c && before {
			return p.changed, false
		}
	}
	if _, ok := p.views[c]; ok {
		p.views[c] = position{offset: at, active: true}
	}
	return nil, true
}
