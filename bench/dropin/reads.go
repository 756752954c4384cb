package main

import (
	"context"
	"fmt"
	"maps"
	"runtime"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/seed-6d2a410a/listwatch/bench/internal/harness"
	"github.com/seed-6d2a410a/listwatch/internal/testkit/published"
)

const (
	readLists  = 12 // number of full lists, one every readPeriod
	readPeriod = 5 * time.Second
	perLabel   = 10  // number of Pods in each list by label
	labelLists = 100 // number of lists by label
	cycles     = 400 // number of informers that are created and removed
)

// Names of the quantities that -reads measures.
const (
	readHeap   = "heap"
	readPeak   = "peak RSS"
	readCPU    = "CPU time"
	cycledHeap = "heap after the cycles, kB"
)

// workloads contains three kinds of programs with their maximum ratios of listwatch to client-go. The first kind lists
// all objects every readPeriod, the second lists objects by label, and the third creates and removes informers. Pods in
// JSON represent custom resources, which always arrive as JSON.
var workloads = []struct {
	name, role         string
	pods, perApp       int
	JSON, Unstructured bool
	goals              map[string]float64
}{
	{"typed, protobuf", "reads", 15_000, 0, false, false, map[string]float64{readHeap: 0.45, readPeak: 0.8, readCPU: 0.9}},
	{"typed, JSON", "reads", 15_000, 0, true, false, map[string]float64{readHeap: 0.7, readCPU: 1.2}},
	{"unstructured, JSON", "reads", 15_000, 0, true, true, map[string]float64{readHeap: 0.7, readCPU: 1.2}},
	{"List of 10 of 80,000 Pods by label", "labels", 80_000, perLabel, false, false, map[string]float64{readCPU: 0.02}},
	{"cycles", "cycles", 500, 0, false, false, nil}, // a removed informer that keeps even 500 Pods shows after 400 cycles
}

func compareReads(ctx context.Context) error {
	results := published.Results{}
	for _, w := range workloads {
		fmt.Println(w.name)
		t := task{Pods: harness.Size(w.pods, 100), JSON: w.JSON, Unstructured: w.Unstructured, Period: harness.Size(readPeriod, time.Millisecond), Cycles: harness.Size(cycles, 2)}
		found, err := compareCaches(ctx, w.role, t, w.perApp)
		if err != nil {
			return err
		}
		for figure, maximum := range w.goals {
			row := w.name + ", " + figure
			results.Ratios(row, "ratio", found.Get(figure, listwatchName), found.Get(figure, clientGoName))
			results.Set(row, "goal", maximum)
		}
		if w.role == "cycles" {
			maps.Copy(results, harness.Medians(found))
		}
	}
	return harness.Save("reads", results)
}

// measureReads measures a process from its start until it has listed all Pods readLists times.
func measureReads(t task) harness.Figures {
	ctx, before, began := context.Background(), harness.Heap(), harness.CPUTime()
	c := t.start(ctx)
	for range readLists {
		_, all := t.objects()
		harness.Must(c.List(ctx, all))
		time.Sleep(t.Period)
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
	return harness.Figures{readCPU: harness.CPUPer(labelLists, func() {
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
	for range t.Cycles {
		cycle()
	}
	return harness.Figures{cycledHeap: (settledHeap() - before) / 1e3}
}

// settledHeap returns the size of the heap. It first waits for a second, so that removed informers can stop.
func settledHeap() float64 {
	time.Sleep(time.Second)
	return harness.Heap()
}
