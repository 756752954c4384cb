package main

import (
	"cmp"
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

const (
	// usual covers two of the longest backoffs of client-go, which are 30 seconds plus jitter.
	usual = 90 * time.Second
	// idle is for servers with silent watches. Bookmarks usually arrive every minute, and only their absence shows that
	// a watch is dead. The deadline covers two missing bookmarks and the recovery.
	idle = 3 * time.Minute
	// honored covers a Retry-After of several minutes. Trials with this deadline run only with -long.
	honored = 7 * time.Minute
)

// deadlines contains the deadlines that differ from usual.
var deadlines = map[string]time.Duration{
	"at-timeout": idle, "white-space": idle, "blank-object": idle, "bookmark-then-silent": idle, "mute": idle, "mute-watches": idle, "mute-all": idle,
	"regressing-check": idle, "no-mark": idle, "retry-after": honored, "error-429": honored,
}

// excused contains the properties that a trial's server makes impossible to keep. It maps each trial to these
// properties, and each property to the reason.
var excused = map[string]map[string]string{
	"deletes-in-list": {"resurrection": "The server itself sends a change after the deletion."},
	"lagging-lists": {
		"resurrection": "The server's lists are older than its earlier responses.",
		"order":        "The server's lists are older than its earlier responses.",
	},
}

// all returns the trials.
func all(seed uint64) (trials []*trial) {
	for _, s := range hostile.All() {
		s.Seed = seed
		trials = append(trials, &trial{Scenario: s, deadline: cmp.Or(deadlines[s.Name], usual)})
	}
	for _, rebuild := range hostile.Rebuilds() {
		s := hostile.All()[1] // the correct server with paginated lists
		s.Seed, s.Name = seed, "outage-"+strings.NewReplacer(",", "", " ", "-").Replace(strings.ToLower(rebuild.Name))
		s.Does = "is unreachable for some seconds (afterwards: " + rebuild.Name + ")"
		s.Source = "https://github.com/kubernetes/kubernetes/issues/107457"
		trials = append(trials, &trial{Scenario: s, rebuild: &rebuild, deadline: usual})
	}
	return trials
}
