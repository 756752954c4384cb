// Command dropin compares two implementations of controller-runtime's cache: the default one, which uses
// client-go's informers, and listwatch's adapter. Both receive typed Pods as protobuf and unstructured Pods as
// JSON.
//
// Each measurement runs in a separate process. The server sends each list in one page.
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
	reads  = flag.Bool("reads", false, "measure only operators that read all objects again and again, Lists by label, and removed informers")
	real   = flag.Bool("apiserver", false, "measure only the CPU time per event, with the kube-apiserver from make e2e-server")
)

const (
	listwatchName = "listwatch"
	clientGoName  = "client-go"
)

var both = []string{clientGoName, listwatchName}

// goals contains the maximum ratios of listwatch to client-go, first for typed and then for unstructured Pods. Zero
// means no maximum.
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
	t := task{Pods: harness.Size(10_000, 100)}
	stop, err := harness.Serve(ctx, "server", serve.Config{Pods: t.Pods, Changed: t.Pods, Protobuf: true}, &t.Server)
	if err != nil {
		return err
	}
	defer stop()
	for i, kind := range []string{"typed", "unstructured"} {
		t.Unstructured = kind == "unstructured"
		results := published.Results{}
		for _, t.Handler = range []bool{false, true} {
			if err := compareCaches(ctx, t, results); err != nil {
				return err
			}
		}
		for row, maximum := range goals {
			results.Set(row, "goal")
			if maximum[i] != 0 {
				results.Set(row, "goal", maximum[i])
			}
		}
		if err := harness.Save(kind, results); err != nil {
			return err
		}
	}
	return nil
}

// compareCaches adds the ratio between the two caches to the results. If a handler is used, it also adds the
// medians.
func compareCaches(ctx context.Context, t task, results published.Results) error {
	found, err := harness.Compare(*rounds, both, func(contender string) (figures harness.Figures, err error) {
		t.Listwatch = contender == listwatchName
		return figures, harness.Run(ctx, "cache", t, &figures)
	})
	if err != nil {
		return err
	}
	column := "ratio, no handler"
	if t.Handler {
		column = "ratio, one handler"
	}
	for row := range goals {
		ours, theirs := found.Get(row, listwatchName), found.Get(row, clientGoName)
		results.Ratios(row, column, ours, theirs)
		if t.Handler {
			results.Set(row, listwatchName, harness.Median(ours))
			results.Set(row, clientGoName, harness.Median(theirs))
		}
	}
	return nil
}
