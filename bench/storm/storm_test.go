package main

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const few, someClients = 200, 300

func TestASeedRepeatsExactly(t *testing.T) {
	of := sizesOf(few)
	for _, s := range scenarios {
		for _, s.clientGo = range []bool{false, true} {
			if s.clientGo && !s.modelled() {
				continue
			}
			require.Equal(t, play(s, someClients, few, of, 1), play(s, someClients, few, of, 1), s.name)
			require.NotEqual(t, play(s, someClients, few, of, 1), play(s, someClients, few, of, 2), s.name)
		}
	}
}

// TestLoadMatchesFormulas compares the simulation with independent formulas.
func TestLoadMatchesFormulas(t *testing.T) {
	of, compared := sizesOf(few), 0
	for _, s := range scenarios {
		o := play(s, someClients, few, of, 1)
		require.Less(t, o.all, until, "%s: a client has no watch at the end", s.name)
		if s.expected == nil {
			continue
		}
		compared++
		require.InEpsilon(t, o.expectedRequests, len(o.arrivals), 0.1, s.name)
		require.InDelta(t, o.expectedBytes, sum(o.sendings), 0.15*o.expectedBytes+someClients*(4*headBytes+of.event), s.name)
	}
	require.Greater(t, compared, 5)
}

// TestJitterSpreads compares the largest number of requests in 10 ms with and without jitter.
func TestJitterSpreads(t *testing.T) {
	of := sizesOf(few)
	for name, one := range map[string]struct {
		happens func(*server)
		begin   time.Duration // only requests from this time on count
	}{
		"connections are cut":       {cut, 0},
		"the server is unreachable": {away(10*time.Second, false), later},
		"the server sends 429s":     {rejecting(5*time.Second, 5*time.Second, false), later},
	} {
		s := scenario{running: true, limited: true, lived: 5 * time.Minute, happens: one.happens}
		spread := most(since(play(s, someClients, few, of, 1).arrivals, one.begin), 10*time.Millisecond)
		s.noJitter = true
		together := most(since(play(s, someClients, few, of, 1).arrivals, one.begin), 10*time.Millisecond)
		require.Less(t, 10*spread, together, name)
	}
}

// TestClientGoReconnectsTogether shows that the model of client-go reconnects without a delay after a cut.
func TestClientGoReconnectsTogether(t *testing.T) {
	s := scenario{running: true, limited: true, happens: cut, clientGo: true}
	o := play(s, 1000, few, sizesOf(few), 1)
	require.Equal(t, 1000.0, most(o.arrivals, 2*slowest))
	require.NotZero(t, o.rejected)
	require.Less(t, o.all, 2*time.Second)
}

func TestLimitsHold(t *testing.T) {
	srv := &server{clock: newClock(0), pods: 1000, limited: true}
	rejected := 0
	for i := range 400 {
		srv.receive(&request{list: true, reply: func(a answer) {
			if a.err != nil {
				rejected++
			}
		}})
		require.LessOrEqual(t, srv.seated, seats)
		require.Equal(t, max(0, i+1-seats/maxListSeats-queueLength), rejected)
	}
	srv.run(time.Minute)
	require.Zero(t, srv.seated)
	require.Zero(t, srv.underWay)
	require.Equal(t, seats/maxListSeats+queueLength, srv.maxConcurrent)
	require.Len(t, srv.sendings, 400)
}

func TestMostWithinAWindow(t *testing.T) {
	at := func(seconds ...int) (all []moment) {
		for _, s := range seconds {
			all = append(all, moment{time.Duration(s) * time.Second, 1})
		}
		return all
	}
	require.Equal(t, 3.0, most(at(0, 5, 6, 6, 7), 2*time.Second))
	require.Equal(t, 2.0, most(at(0, 5, 6, 6, 7), time.Second))
	require.Equal(t, at(6, 7), since(at(0, 5, 6, 7), 6*time.Second))
	require.Zero(t, most(nil, time.Second))
}

// TestPlayersRunInTimeOrder starts several players that sleep for random times.
func TestPlayersRunInTimeOrder(t *testing.T) {
	c, random := newClock(-time.Second), rand.New(rand.NewPCG(1, 1))
	last, turns := c.now, 0
	for range 50 {
		c.play(time.Duration(random.IntN(100)), func(p *player) {
			for !p.over {
				require.GreaterOrEqual(t, c.now, last)
				last = c.now
				turns++
				p.sleep(time.Duration(random.IntN(10)))
			}
		})
	}
	c.run(1000)
	require.Greater(t, turns, 5000)
	require.LessOrEqual(t, last, time.Duration(1000))
}
