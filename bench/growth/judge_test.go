package main

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

// made is a series of a thousand to a million, of a machine on which a random access takes longer the more memory is in use.
func made(touches float64, cost func(n, latency float64) float64) series {
	s := series{}
	for n, latency := range map[float64]float64{1e3: 2, 1e4: 5, 1e5: 25, 1e6: 90} {
		s.points = append(s.points, point{n, cost(n, latency), touches, latency})
	}
	sortPoints(s.points)
	return s
}

func TestACostThatStaysHolds(t *testing.T) {
	v := made(0, func(n, _ float64) float64 { return 100 + 0.00001*n }).judge()
	require.True(t, v.holds)
	require.InDelta(t, 1.1, v.growth, 0.01)
}

func TestWhatTheMachineTakesLongerForHolds(t *testing.T) {
	places := func(_, latency float64) float64 { return 80 + 10*latency }
	require.True(t, made(10, places).judge().holds)
	require.False(t, made(3, places).judge().holds, "more places than are said")
}

func TestACostThatGrowsWithItsInputDoesNotHold(t *testing.T) {
	for name, cost := range map[string]func(n, latency float64) float64{
		"with the input":            func(n, _ float64) float64 { return 100 + 0.01*n },
		"with its root":             func(n, latency float64) float64 { return 5*math.Sqrt(n) + 10*latency },
		"with its logarithm":        func(n, _ float64) float64 { return 100 * math.Log10(n) },
		"only behind the last step": func(n, latency float64) float64 { return 2000 + 10*latency + max(n-2e5, 0)*0.005 },
	} {
		v := made(10, cost).judge()
		if name == "with its logarithm" { // no more than what fetching ten places takes longer
			require.True(t, v.holds)
			continue
		}
		require.False(t, v.holds, name)
		require.Greater(t, v.growth, 1.0)
	}
}

func TestACheapLargestInputHolds(t *testing.T) {
	v := made(0, func(n, _ float64) float64 { return 1000 / n }).judge()
	require.True(t, v.holds)
	require.InDelta(t, 0.001, v.growth, 1e-9)
}

func TestOneInputProvesNothing(t *testing.T) {
	require.True(t, series{points: []point{{1, 5, 1, 1}}}.judge().holds)
	require.True(t, series{}.judge().holds)
}
