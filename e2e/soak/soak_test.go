// Package soak runs followers of one collection while a real kube-apiserver and the connections to it fail repeatedly.
// Every change must be valid, and at the end, every follower must have the server's objects.
//
// - The followers connect through a proxy that breaks connections; see package faults.
// - The server is killed and terminated, and loses its history; see accidents_test.go.
// - Writers bypass the proxy and make hundreds of writes per second; see writers_test.go.
// - Each change is compared with the earlier changes; see replay_test.go.
package soak

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed-6d2a410a/listwatch/e2e/faults"
	"github.com/seed-6d2a410a/listwatch/e2e/kube"
)

const (
	betweenFaults   = 3 * time.Second // average delay before a connection's next fault
	betweenReports  = 5 * time.Second
	extraTime       = time.Minute     // maximum extension of a run if a required failure has not happened
	convergenceTime = 3 * time.Minute // must exceed the maximum retry delay of one minute
)

// soak is a run of the test.
type soak struct {
	cluster  *kube.Cluster
	seed     uint64        // determines the writes, faults and server failures, including their order and delays
	duration time.Duration // minimum time for which the run causes failures
	logf     func(format string, args ...any)

	began     time.Time
	proxy     *faults.Proxy
	calm      context.Context // done when the failures stop
	calmDown  context.CancelFunc
	followers []*follower

	writes, accidents, causes tally
}

// run causes failures for s.duration and then checks the followers.
func (s *soak) run(ctx context.Context) error {
	s.began = time.Now()
	s.calm, s.calmDown = context.WithCancel(ctx)
	defer s.calmDown()
	if err := s.connect(); err != nil {
		return err
	}
	defer s.proxy.Close()
	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	following, stop := context.WithCancel(ctx)
	defer stop()
	var group sync.WaitGroup
	for _, f := range s.followers {
		group.Go(func() {
			if err := f.run(following); err != nil {
				fail(err)
			}
		})
	}
	err := s.causeFailures(ctx)
	if err == nil {
		err = s.converge(ctx)
	}
	stop()
	group.Wait()
	s.report()
	if failure := context.Cause(ctx); failure != nil {
		return failure // a follower has failed
	}
	return errors.Join(err, s.verify())
}

// connect starts the proxy and creates the followers.
func (s *soak) connect() error {
	server, err := url.Parse(s.cluster.URL)
	if err != nil {
		return err
	}
	if s.proxy, err = faults.Start(server.Host, faults.Random(s.seed, betweenFaults)); err != nil {
		return err
	}
	for i, k := range kinds() {
		f, err := s.newFollower(k, "https://"+s.proxy.Addr(), s.seed+uint64(i))
		if err != nil {
			s.proxy.Close()
			return err
		}
		s.followers = append(s.followers, f)
	}
	return nil
}

// causeFailures breaks the server and the connections while writers run, until s.wait returns. It then stops the
// writers and leaves the server running. It returns an error if a required kind of failure never happened.
func (s *soak) causeFailures(ctx context.Context) error {
	var group sync.WaitGroup
	for number := range writers {
		group.Go(func() { s.newWriter(number).run(s.calm, number) })
	}
	broken := make(chan error, 1)
	group.Go(func() {
		err := s.breakServer(ctx)
		if err != nil {
			s.calmDown()
		}
		broken <- err
	})
	s.wait(ctx)
	s.calmDown()
	s.proxy.Calm()
	group.Wait()
	return errors.Join(<-broken, s.missing())
}

// wait blocks for s.duration, and up to extraTime longer if a required failure has not happened. It returns early if
// ctx or s.calm is done.
func (s *soak) wait(ctx context.Context) {
	report := time.NewTicker(betweenReports)
	defer report.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.calm.Done():
			return
		case <-report.C:
		}
		s.progress()
		if gone := time.Since(s.began); gone > s.duration && (s.missing() == nil || gone > s.duration+extraTime) {
			return
		}
	}
}

// missing returns an error that lists the required failures that have not happened yet, or nil.
func (s *soak) missing() error {
	var missing []string
	need := func(what string, n int) {
		if n == 0 {
			missing = append(missing, what)
		}
	}
	for _, kind := range faults.Kinds() {
		need("fault: "+kind.String(), s.proxy.Happened(kind))
	}
	for _, accident := range accidents {
		need("server failure: "+accident.name, s.accidents.of(accident.name))
	}
	for _, cause := range []string{expired, closed, silent, cutShort, broken, ended} {
		need("interruption: "+cause, s.causes.of(cause))
	}
	for _, write := range []string{"created", "updated", "deleted"} {
		need("write: "+write, s.writes.of(write))
	}
	for _, f := range s.followers {
		need(f.name+": second list", int(f.lists.Load()/2))
		need(f.name+": interruption", int(f.breaks.Load()))
	}
	if missing == nil {
		return nil
	}
	return fmt.Errorf("the run is incomplete; these events did not happen: %s", strings.Join(missing, "; "))
}

// durationByDefault is the duration of a run if the environment variable SOAK is not set.
const durationByDefault = 90 * time.Second

// The environment variable SOAK sets the duration, for example 10m. SEED sets the seed.
func TestSoak(t *testing.T) {
	s := &soak{cluster: kube.Start(t), seed: uint64(time.Now().Unix()), duration: durationByDefault, logf: t.Logf}
	var err error
	if text := os.Getenv("SOAK"); text != "" {
		s.duration, err = time.ParseDuration(text)
		require.NoError(t, err, "SOAK")
	}
	if text := os.Getenv("SEED"); text != "" {
		s.seed, err = strconv.ParseUint(text, 10, 64)
		require.NoError(t, err, "SEED")
	}
	t.Logf("seed %d", s.seed)
	require.NoError(t, s.run(t.Context()), "to repeat the random choices of this run (but not its timing), run: make soak SOAK=%v SEED=%d", s.duration, s.seed)
}
