package main

import (
	"context"
	"runtime"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/seed-6d2a410a/listwatch/bench/internal/harness"
	"github.com/seed-6d2a410a/listwatch/bench/internal/serve"
	"github.com/seed-6d2a410a/listwatch/internal/testkit/published"
)

const (
	readPods   = 15_000
	readLists  = 12 // full lists, one every readPeriod
	readPeriod = 5 * time.Second

	labeledPods = 80_000
	perLabel    = 10 // number of Pods that a list by label finds
	labelLists  = 100

	cycles = 400 // number of informers that are created and removed
)

// Names of the quantities that -reads measures.
const (
	readHeap   = "heap"
	readPeak   = "peak RSS"
	readCPU    = "CPU time"
	labelList  = "List of 10 of 80,000 Pods by label, CPU time"
	cycledHeap = "heap after the cycles, kB"
)

// readers contains the maximum ratios for an operator that lists all objects every readPeriod. Pods in JSON stand
// for custom resources, which also arrive as JSON.
var readers = []struct {
	name               string
	JSON, Unstructured bool
	goals              map[string]float64
}{
	{"typed, protobuf", false, false, map[string]float64{readHeap: 0.45, readPeak: 0.8, readCPU: 0.9}},
	{"typed, JSON", true, false, map[string]float64{readHeap: 0.7, readCPU: 1.2}},
	{"unstructured, JSON", true, true, map[string]float64{readHeap: 0.7, readCPU: 1.2}},
}

// compareReads measures three workloads: an operator that lists all Pods again and again, lists by label, and
// informers that come and go.
func compareReads(ctx context.Context) error {
	t, results := task{Pods: harness.Size(readPods, 100)}, published.Results{}
	stop, err := harness.Serve(ctx, "server", serve.Config{Pods: t.Pods, Changed: 1, Protobuf: true}, &t.Server)
	if err != nil {
		return err
	}
	defer stop()
	for _, reader := range readers {
		t.JSON, t.Unstructured = reader.JSON, reader.Unstructured
		found, err := compareWorkers(ctx, "reads", t)
		if err != nil {
			return err
		}
		for figure, maximum := range reader.goals {
			row := reader.name + ", " + figure
			results.Ratios(row, "ratio", found.Get(figure, listwatchName), found.Get(figure, clientGoName))
			results.Set(row, "goal", maximum)
		}
	}
	t.JSON, t.Unstructured = false, false
	found, err := compareWorkers(ctx, "cycles", t) // the size of the list does not matter
	if err != nil {
		return err
	}
	for _, contender := range both {
		results.Set(cycledHeap, contender, harness.Median(found.Get(cycledHeap, contender)))
	}
	stop()
	t.Pods = harness.Size(labeledPods, 100)
	stop, err = harness.Serve(ctx, "server", serve.Config{Pods: t.Pods, Changed: 1, Protobuf: true, PerApp: perLabel}, &t.Server)
	if err != nil {
		return err
	}
	defer stop()
	if found, err = compareWorkers(ctx, "labels", t); err != nil {
		return err
	}
	results.Ratios(labelList, "ratio", found.Get(labelList, listwatchName), found.Get(labelList, clientGoName))
	results.Set(labelList, "goal", 0.02)
	return harness.Save("reads", results)
}

// compareWorkers runs a role with each cache in turn.
func compareWorkers(ctx context.Context, role string, t task) (published.Results, error) {
	return harness.Compare(*rounds, both, func(contender string) (figures harness.Figures, err error) {
		t.Listwatch = contender == listwatchName
		return figures, harness.Run(ctx, role, t, &figures)
	})
}

// measureReads measures a process from its start until it has listed all Pods readLists times.
func measureReads(t task) harness.Figures {
	ctx, before, began := context.Background(), harness.Heap(), harness.CPUTime()
	c := t.start(ctx)
	for range readLists {
		_, all := t.objects()
		harness.Must(c.List(ctx, all))
		time.Sleep(harness.Size(readPeriod, time.Millisecond))
	}
	found := harness.Figures{readCPU: float64(harness.CPUTime() - began), readPeak: harness.PeakRSS()}
	found[readHeap] = harness.Heap() - before
	runtime.KeepAlive(c)
	return found
}

// measureLabels measures lists by label. It leaves out the first one, which builds listwatch's index.
func measureLabels(t task) harness.Figures {
	ctx := context.Background()
	c := t.start(ctx)
	list := func() {
		_, found := t.objects()
		harness.Must(c.List(ctx, found, client.MatchingLabels{"app": "app-7"}))
		if meta.LenList(found) != perLabel {
			panic("the List by label found a wrong number of Pods")
		}
	}
	list()
	return harness.Figures{labelList: harness.CPUPer(labelLists, func() {
		for range labelLists {
			list()
		}
	})}
}

// measureCycles measures how much the heap grows while informers are created, synced and removed.
func measureCycles(t task) harness.Figures {
	ctx := context.Background()
	c := t.start(ctx)
	cycle := func() {
		object, _ := t.objects()
		informer := harness.MustGet(c.GetInformer(ctx, object))
		harness.MustGet(informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{}))
		harness.Must(c.RemoveInformer(ctx, object))
	}
	cycle() // fills internal caches, which do not grow any further
	before := settledHeap()
	for range harness.Size(cycles, 2) {
		cycle()
	}
	return harness.Figures{cycledHeap: (settledHeap() - before) / 1e3}
}

// settledHeap returns the heap size after giving removed informers time to stop.
func settledHeap() float64 {
	time.Sleep(time.Second)
	return harness.Heap()
}
