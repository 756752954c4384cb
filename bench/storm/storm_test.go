package main

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const few, someClients = 200, 300

func TestSeedsAreReproducible(t *testing.T) {
	for _, s := range scenarios {
		for _, s.clientGo = range []bool{false, true} {
			require.Equal(t, play(s, someClients, few, 1), play(s, someClients, few, 1), s.name)
			require.NotEqual(t, play(s, someClients, few, 1), play(s, someClients, few, 2), s.name)
		}
	}
}

func TestAllClientsRecover(t *testing.T) {
	for _, s := range scenarios {
		require.Less(t, play(s, someClients, few, 1).live, until, s.name)
	}
}

// TestClientGoReconnectsTogether shows that all clients with client-go's policy reconnect at once after a cut.
// listwatch clients spread their requests.
func TestClientGoReconnectsTogether(t *testing.T) {
	s := scenario{age: 5 * time.Minute, happens: cut, clientGo: true}
	o := play(s, 1000, few, 1)
	require.Equal(t, 1000, most(o.arrivals, 2*slowest))
	require.NotZero(t, o.rejected)
	require.Less(t, o.live, 2*time.Second)
	s.clientGo = false
	require.Less(t, most(play(s, 1000, few, 1).arrivals, 2*slowest), 100)
}

func TestLimitsHold(t *testing.T) {
	srv := &server{clock: newClock(0), pods: 1000}
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
	require.Len(t, srv.arrivals, 400)
}

func TestMostWithinAWindow(t *testing.T) {
	arrivals := []time.Duration{0, 5 * time.Second, 6 * time.Second, 6 * time.Second, 7 * time.Second}
	require.Equal(t, 3, most(arrivals, 2*time.Second))
	require.Equal(t, 2, most(arrivals, time.Second))
	require.Zero(t, most(nil, time.Second))
}

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
