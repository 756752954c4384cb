package hostile

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/seed-6d2a410a/listwatch/lw"
)

// For each request, the server follows a randomly chosen scenario. Scenarios with wrong data are left out, so that the
// test can compare the store after each event.
func TestRecoversFromRandomSequencesOfServers(t *testing.T) {
	t.Parallel()
	var scenarios []Scenario
	for _, s := range slices.Concat(wrongWatches(), shortWatches(), hostileErrorResponses(), wrongLists(), malformedLists(), wrongStreamingLists(), unusualServers()) {
		if !s.Lies && s.versions == "" && s.names == nil && s.Name != "no-list-version" && s.Name != "long-tokens" {
			scenarios = append(scenarios, s)
		}
	}
	for seed := range 8 * *seeds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			var mu sync.Mutex
			random := rand.New(rand.NewPCG(seed, 3))
			turns := Scenario{Seed: seed, Does: "behaves like a randomly chosen server for each request", serve: func(c *call) {
				mu.Lock()
				s := scenarios[random.IntN(len(scenarios))]
				if random.IntN(4) == 0 {
					s.serve = correct
				}
				mu.Unlock()
				s.serve(c)
			}}
			synctest.Test(t, func(t *testing.T) {
				turns.run(t, 0, &lw.Options{NoStreamingList: seed%2 == 0, PageSize: pageSize})
			})
		})
	}
}
