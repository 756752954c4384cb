package soak

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/seed-6d2a410a/listwatch/e2e/kube"
)

// accidents lists the server failures. A run causes them repeatedly, in random order.
var accidents = []struct {
	name   string
	happen func(context.Context, *kube.Cluster) error
}{
	{"killed", func(ctx context.Context, c *kube.Cluster) error {
		c.Kill()
		return c.StartAPIServer(ctx)
	}},
	{"terminated", func(ctx context.Context, c *kube.Cluster) error {
		if err := c.Terminate(); err != nil {
			return err
		}
		return c.StartAPIServer(ctx) // waits until the previous server has exited
	}},
	{"resourceVersions expired", func(ctx context.Context, c *kube.Cluster) error { return c.ExpireVersions(ctx) }},
	{"compacted", func(ctx context.Context, c *kube.Cluster) error { return c.Compact(ctx) }},
}

// breakServer causes server failures until s.calm is done. The server is running when breakServer returns nil.
func (s *soak) breakServer(ctx context.Context) error {
	random := rand.New(rand.NewPCG(s.seed, 1))
	for {
		for _, i := range random.Perm(len(accidents)) {
			pause := time.NewTimer(3*time.Second + time.Duration(random.Int64N(int64(6*time.Second))))
			select {
			case <-pause.C:
			case <-s.calm.Done():
				pause.Stop()
				return nil
			}
			if err := accidents[i].happen(ctx, s.cluster); err != nil {
				return fmt.Errorf("%s: %w", accidents[i].name, err)
			}
			s.accidents.add(accidents[i].name)
		}
	}
}
