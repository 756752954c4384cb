package soak

import (
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/seed-6d2a410a/listwatch/e2e/faults"
)

func (s *soak) progress() {
	var changes, breaks, lists int64
	for _, f := range s.followers {
		changes, breaks, lists = changes+f.changes.Load(), breaks+f.breaks.Load(), lists+f.lists.Load()
	}
	s.logf("%v: %v; %d faults; server failures: %v; followers: %d changes, %d interruptions, %d lists", time.Since(s.began).Round(time.Second),
		&s.writes, s.faults(), &s.accidents, changes, breaks, lists)
}

// faults returns the number of faults that the proxy has injected.
func (s *soak) faults() (n int) {
	for _, kind := range faults.Kinds() {
		n += s.proxy.Happened(kind)
	}
	return n
}

// report logs a table of the followers, and how often each fault, cause and write occurred.
func (s *soak) report() {
	var table strings.Builder
	w := tabwriter.NewWriter(&table, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "events\tchanges\tinterruptions\tlists\tstreams\tpages\truns\tobjects\t")
	for _, f := range s.followers {
		fmt.Fprintf(w, "%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t  %s\n", f.events.Load(), f.changes.Load(), f.breaks.Load(), f.lists.Load(),
			f.streams.Load(), f.pages.Load(), f.runs.Load(), f.informer.Store().Len(), f.name)
	}
	_ = w.Flush()
	var kinds []string
	for _, kind := range faults.Kinds() {
		kinds = append(kinds, fmt.Sprintf("%v %d", kind, s.proxy.Happened(kind)))
	}
	s.logf("after %v, seed %d\n%sfaults: %s\nserver failures: %v\ncauses: %v\nwrites: %v", time.Since(s.began).Round(time.Second), s.seed,
		&table, strings.Join(kinds, ", "), &s.accidents, &s.causes, &s.writes)
}
