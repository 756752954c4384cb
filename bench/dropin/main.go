// Command dropin compares two implementations of controller-runtime's cache: the default one, which uses
// client-go's informers, and its drop-in replacement, which is listwatch's adapter. Both receive typed Pods as protobuf
// and unstructured Pods as JSON.
//
// Each measurement runs in a separate process, because the peak RSS of a process never falls. The server ignores the
// parameter limit and sends each list in one page, so the results do not include the cost of pagination.
package main

import (
	"context"
	"flag"

	"github.com/go-logr/logr"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/seed-6d2a410a/listwatch/bench/internal/harness"
	"github.com/seed-6d2a410a/listwatch/bench/internal/serve"
	"github.com/seed-6d2a410a/listwatch/internal/testkit/published"
)

var (
	rounds = harness.Rounds(3)
	reads  = flag.Bool("reads", false, "measure only other workloads: operators that list all objects every 5 seconds, Lists by label, and informers that are created and removed")
	real   = flag.Bool("apiserver", false, "measure only the CPU time per event, with the kube-apiserver from make e2e-server")
)

const (
	listwatchName = "listwatch"
	clientGoName  = "client-go"
)

// goals contains the project's goals: the maximum ratios of listwatch to client-go, first for typed and then for
// unstructured Pods. The documents mark each ratio that misses its goal. Zero means no goal.
var goals = map[string][2]float64{
	syncCPU:       {0.5, 0.5},
	peakRSS:       {0.45, 0.45},
	heap:          {0.27, 0.27},
	heapAfterList: {},
	perEvent:      {0.75, 0.25},
	perGet:        {1.2, 1.2},
	firstList:     {1.2, 1.6},
	nextList:      {1.2, 1.2},
}

func main() {
	ctrl.SetLogger(logr.Discard())
	harness.Main(compare, harness.Worker("cache", measure), harness.Worker("real", measureReal),
		harness.Worker("reads", measureReads), harness.Worker("labels", measureLabels), harness.Worker("cycles", measureCycles),
		harness.Server("server", serve.Start))
}

func compare(ctx context.Context) error {
	if *real {
		return compareOnServer(ctx)
	}
	if *reads {
		return compareReads(ctx)
	}
	for i, kind := range []string{"typed", "unstructured"} {
		results := published.Results{}
		for column, handler := range map[string]bool{"ratio, no handler": false, "ratio, one handler": true} {
			found, err := compareCaches(ctx, "cache", task{Pods: harness.Size(10_000, 100), Unstructured: kind == "unstructured", Handler: handler}, 0)
			if err != nil {
				return err
			}
			for row, maximum := range goals {
				ours, theirs := found.Get(row, listwatchName), found.Get(row, clientGoName)
				results.Ratios(row, column, ours, theirs)
				if handler {
					results.Set(row, listwatchName, harness.Median(ours))
					results.Set(row, clientGoName, harness.Median(theirs))
				}
				results.Set(row, "goal") // the documents need an entry for each row, even if it is empty
				if maximum[i] != 0 {
					results.Set(row, "goal", maximum[i])
				}
			}
		}
		if err := harness.Save(kind, results); err != nil {
			return err
		}
	}
	return nil
}

// compareCaches starts a server and runs a role with each cache in turn. If perApp is positive, the Pods are divided
// into groups of perApp Pods with the same label "app".
func compareCaches(ctx context.Context, role string, t task, perApp int) (published.Results, error) {
	c := serve.Config{Pods: t.Pods, Changed: min(t.Pods, 10_000), Protobuf: true, PerApp: perApp}
	stop, err := harness.Serve(ctx, "server", c, &t.Server)
	if err != nil {
		return nil, err
	}
	defer stop()
	return harness.Compare(*rounds, []string{clientGoName, listwatchName}, func(contender string) (figures harness.Figures, err error) {
		t.Listwatch = contender == listwatchName
		return figures, harness.Run(ctx, role, t, &figures)
	})
}
