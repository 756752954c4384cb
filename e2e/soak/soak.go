package soak

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/seed-6d2a410a/listwatch/e2e/faults"
	"github.com/seed-6d2a410a/listwatch/e2e/kube"
)

const (
	betweenFaults   = 3 * time.Second // of one connection, on average
	betweenReports  = 5 * time.Second
	extraTime       = time.Minute     // for what has not happened yet when the time is over
	convergenceTime = 3 * time.Minute // the longest delay is one minute
)

// Soak is one run.
type Soak struct {
	Cluster  *kube.Cluster
	Seed     uint64        // decides what writers write, which faults and accidents come, in what order and when
	Duration time.Duration // of the bad time
	Logf     func(format string, args ...any)

	began     time.Time
	proxy     *faults.Proxy
	calm      context.Context // ends with the bad time
	calmDown  context.CancelFunc
	followers []*follower

	writes, accidents, causes tally
}

// Run lives through the bad time and checks what is left. The error says what was wrong.
func (s *Soak) Run(ctx context.Context) error {
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
	err := s.badTime(ctx)
	if err == nil {
		err = s.converge(ctx)
	}
	stop()
	group.Wait()
	s.report()
	if told := context.Cause(ctx); told != nil {
		return told // what a follower found wrong ended all else
	}
	return errors.Join(err, s.verify())
}

// connect starts the proxy, and makes the followers behind it.
func (s *Soak) connect() error {
	server, err := url.Parse(s.Cluster.URL)
	if err != nil {
		return err
	}
	if s.proxy, err = faults.Start(server.Host, faults.Random(s.Seed, betweenFaults)); err != nil {
		return err
	}
	for i, k := range kinds() {
		f, err := s.newFollower(k, "https://"+s.proxy.Addr(), s.Seed+uint64(i))
		if err != nil {
			s.proxy.Close()
			return err
		}
		s.followers = append(s.followers, f)
	}
	return nil
}

// badTime goes on for as long as it shall, and a little longer if something that must happen has not. When it returns the
// server runs, and nobody writes.
func (s *Soak) badTime(ctx context.Context) error {
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

// wait returns when the bad time is over.
func (s *Soak) wait(ctx context.Context) {
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
		if gone := time.Since(s.began); gone > s.Duration && (s.missing() == nil || gone > s.Duration+extraTime) {
			return
		}
	}
}

// missing says what must happen in every run and has not.
func (s *Soak) missing() error {
	var missing []string
	need := func(what string, n int) {
		if n == 0 {
			missing = append(missing, what)
		}
	}
	for _, kind := range faults.Kinds() {
		need("fault "+kind.String(), s.proxy.Happened(kind))
	}
	for _, accident := range accidents {
		need("server "+accident.name, s.accidents.of(accident.name))
	}
	for _, cause := range []string{expired, closed, silent, cutShort, broken, ended} {
		need("interruption by "+cause, s.causes.of(cause))
	}
	for _, write := range []string{"created", "updated", "deleted"} {
		need("objects "+write, s.writes.of(write))
	}
	for _, f := range s.followers {
		need(f.name+": two lists", int(f.lists.Load()/2))
		need(f.name+": an interruption", int(f.breaks.Load()))
	}
	if missing == nil {
		return nil
	}
	return fmt.Errorf("this never happened: %s", strings.Join(missing, "; "))
}
