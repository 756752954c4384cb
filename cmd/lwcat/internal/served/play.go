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

// Run plays the recording at a multiple of its speed, or without delays if speed is 0. It returns the number of frames
// and the errors of the recording. The server keeps the final state.
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
	defer markListed() // marks the collection as listed even if the recording has no list
	if recorded.From != "" {
		playback.Of(c.Server).PlayTo(recorded.From)
		markListed()
	}
	var listed []cache.Change[*lw.Object]
	listing := false
	for event, changes := range events(ctx, view, recorded) {
		if event.Type == lw.ListStarted || event.Type == lw.Synced { // an interruption does not end a list
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
		listed = nil
		if event.Type == lw.Synced {
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
			if err := playback.Of(c.Server).Play(c.resource, d.New.Raw()); err != nil {
				return err
			}
			continue
		}
		if err := playback.Of(c.Server).PlayDelete(c.resource, d.Old.Raw()); err != nil {
			return err
		}
	}
	playback.Of(c.Server).PlayTo(version)
	return nil
}

func boolToInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// markListed counts a complete list. After the last list of the collection, it compacts the history and accepts
// requests.
func (c *collection) markListed() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.unlisted--
	if c.unlisted == 0 {
		c.Compact()
		close(c.ready)
	}
}
