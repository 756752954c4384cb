package served

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/seed-6d2a410a/listwatch/cache"
	"github.com/seed-6d2a410a/listwatch/cmd/lwcat/internal/recording"
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
		playing.Go(func() { failures[i] = c.replay(ctx, view, s.recorded.Collections[i]) })
	}
	playing.Wait()
	return player.Frames(), errors.Join(append(failures, context.Cause(ctx), s.recorded.Broken)...)
}

// replay applies the recorded events to the collection at the recorded times.
func (c *collection) replay(ctx context.Context, view *recording.Playback, recorded recording.Collection) error {
	markListed := sync.OnceFunc(c.markListed)
	defer markListed() // a collection that was never listed is empty
	if recorded.From != "" {
		c.PlayTo(recorded.From)
		markListed()
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
			markListed()
		}
	}
	return nil
}

// apply applies the changes up to a resourceVersion: first changed objects by resourceVersion, then deletions.
func (c *collection) apply(version string, changes []cache.Change[*lw.Object]) error {
	slices.SortStableFunc(changes, func(a, b cache.Change[*lw.Object]) int {
		if a.New == nil || b.New == nil {
			return boolToInt(a.New == nil) - boolToInt(b.New == nil)
		}
		order, _ := lw.CompareResourceVersions(a.New.GetResourceVersion(), b.New.GetResourceVersion())
		return order
	})
	for _, d := range changes {
		if d.New != nil {
			if _, err := c.Play(c.resource, d.New.Raw()); err != nil {
				return err
			}
			continue
		}
		if err := c.PlayDelete(c.resource, d.Old.Raw()); err != nil {
			return err
		}
	}
	c.PlayTo(version)
	return nil
}

func boolToInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// markListed records one complete list. After the last one, it compacts the history and accepts requests.
func (c *collection) markListed() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.unlisted--; c.unlisted == 0 {
		c.Compact()
		close(c.ready)
	}
}
