package main

import (
	"strings"
	"time"

	"github.com/seed-6d2a410a/listwatch/internal/hostile"
)

// trial is a scenario with the time that a client has to recover from it.
type trial struct {
	hostile.Scenario
	rebuild  *hostile.Rebuild // the server that clients find after an outage; nil for no outage
	deadline time.Duration
}

// usual covers two of the longest backoffs of client-go, which are 30 seconds plus jitter.
const usual = 90 * time.Second

// all returns the trials.
func all(seed uint64) (trials []*trial) {
	for _, s := range hostile.All() {
		s.Seed = seed
		trials = append(trials, &trial{Scenario: s, deadline: usual})
	}
	for _, rebuild := range hostile.Rebuilds() {
		s := hostile.All()[1]
		s.Seed = seed
		s.Name = "outage-" + strings.NewReplacer(",", "", " ", "-").Replace(strings.ToLower(rebuild.Name))
		s.Does = "is unreachable for some seconds, and then: " + rebuild.Name
		s.Source = "https://github.com/kubernetes/kubernetes/issues/107457"
		trials = append(trials, &trial{Scenario: s, rebuild: &rebuild, deadline: usual})
	}
	return trials
}
