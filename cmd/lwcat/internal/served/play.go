package served

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/seed-6d2a410a/listwatch/cache"
	"github.com/seed-6d2a410a/listwatch/cmd/lwcat/internal/recording"
	"github.com/seed-6d2a410a/listwatch/internal/playback"
	"github.com/seed-6d2a410a/listwatch/lw"
)

// Run plays the recording, at so many times its speed, or at once if that is 0. It returns how many frames there were, and what
// is wrong with the recording; the state of its end stays.
func (s *Server) Run(ctx context.Context, speed float64) (frames int, err error) {
	player := s.recorded.Play(speed)
	var playing sync.WaitGroup
	failures := make([]error, len(s.followed))
	for i, c := range s.followed {
		if c == nil {
			continue
		}
		view := player.Collection()
		playing.Go(func() { failures[i] = c.play(ctx, view, s.recorded.Collections[i]) })
	}
	playing.Wait()
	return player.Frames(), errors.Join(append(failures, context.Cause(ctx), s.recorded.Broken)...)
}

// play makes the collection what the recording tells, as it tells it.
func (c *collection) play(ctx context.Context, view *recording.Playback, recorded recording.Collection) error {
	known := sync.OnceFunc(c.known)
	defer known() // a collection that was never listed is empty
	if recorded.From != "" {
		playback.Of(c.Server).PlayTo(recorded.From)
		known()
	}
	var listed []cache.Change[*lw.Object]
	listing := false
	for event, changes := range events(ctx, view, recorded) {
		if event.Type == lw.ListStarted || event.Type == lw.Synced { // an interruption is not a list's end
			listing = event.Type == lw.ListStarted
		}
		listed = append(listed, changes...)
		if b := event.Interruption; b != nil && b.Final && !errors.Is(b.Err, recording.ErrEnd) {
			return fmt.Errorf("%s: %w", recorded.Resource(), b.Err)
		}
		if listing {
			continue
		}
		if err := c.apply(event.ResourceVersion, listed); err != nil {
			return fmt.Errorf("%s: %w", recorded.Resource(), err)
		}
		if listed = nil; event.Type == lw.Synced {
			known()
		}
	}
	return nil
}

// apply takes what has changed up to a version: objects in the order of their versions, then what a list has shown to be gone.
func (c *collection) apply(version string, changes []cache.Change[*lw.Object]) error {
	slices.SortStableFunc(changes, func(a, b cache.Change[*lw.Object]) int {
		if a.New == nil || b.New == nil {
			return btoi(a.New == nil) - btoi(b.New == nil)
		}
		order, _ := lw.CompareResourceVersions(a.New.GetResourceVersion(), b.New.GetResourceVersion())
		return order
	})
	for _, d := range changes {
		if d.New != nil {
			if err := playback.Of(c.Server).Play(c.id, d.New.Raw()); err != nil {
				return err
			}
			continue
		}
		if err := playback.Of(c.Server).PlayDelete(c.id, d.Old.Raw()); err != nil {
			return err
		}
	}
	playback.Of(c.Server).PlayTo(version)
	return nil
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// known says that one of the recorded collections has been listed. When all have been, what was before is too old.
func (c *collection) known() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.wants--; c.wants == 0 {
		c.Compact()
		close(c.ready)
	}
}
