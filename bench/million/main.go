// Command million reads 1,000,000 Pods of 6.5 kB into a store with cache/compact, using a streaming list over loopback.
// It prints the wall time, the CPU time and the memory. The server runs in a separate process and generates each Pod
// when it sends it.
package main

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"strconv"
	"time"

	"github.com/seed-6d2a410a/listwatch/bench/internal/harness"
	"github.com/seed-6d2a410a/listwatch/bench/internal/serve"
	"github.com/seed-6d2a410a/listwatch/cache"
	"github.com/seed-6d2a410a/listwatch/cache/compact"
	"github.com/seed-6d2a410a/listwatch/internal/testkit/published"
	"github.com/seed-6d2a410a/listwatch/internal/testkit/sample"
	"github.com/seed-6d2a410a/listwatch/lw"
	lwhttp "github.com/seed-6d2a410a/listwatch/transport/http"
)

var (
	pods      = flag.Int("pods", 1_000_000, "number of Pods")
	templates = flag.Int("templates", 1000, "number of Pod templates, each with its own environment, images and arguments")
)

func main() {
	harness.Main("million", measure, harness.Server("server", startServer), harness.Worker("client", list))
}

// collection describes the server's Pods. Each Pod is generated from one of the templates.
type collection struct{ Pods, Templates int }

func (c collection) source() *sample.Source { return sample.NewSource(1, c.Templates) }

func measure(ctx context.Context) error {
	if *harness.Short {
		*pods, *templates = 2000, 100
	}
	c := collection{*pods, *templates}
	fmt.Fprintf(os.Stderr, "starting a server with %d Pods\n", c.Pods)
	var server address
	stop, err := harness.Serve(ctx, "server", c, &server)
	if err != nil {
		return err
	}
	defer stop()
	var r result
	if err := harness.Run(ctx, "client", task{c, server.URL}, &r); err != nil {
		return err
	}
	table := harness.NewTable(os.Stdout, fmt.Sprintf("Pods in the store\t%d", c.Pods))
	table.Row("JSON of the list, GB\t%.2f", server.Bytes/1e9)
	table.Row("wall time, s\t%.1f", r.Wall)
	table.Row("CPU time, s\t%.1f", r.CPU)
	table.Row("CPU time per Pod, µs\t%.0f", r.CPU*1e6/float64(c.Pods))
	table.Row("peak RSS, GB\t%.2f", r.Peak/1e9)
	table.Row("heap per Pod, bytes\t%.0f", r.Heap/float64(c.Pods))
	if err := table.Flush(); err != nil {
		return err
	}
	results := published.Results{}
	results.Set("peak RSS, GB", "listwatch", r.Peak/1e9)
	results.Set("CPU time, minutes", "listwatch", r.CPU/60)
	return harness.Save("million", results)
}

// task is the input of the client process.
type task struct {
	collection
	URL string
}

// result contains the cost of the list: times in seconds and sizes in bytes.
type result struct {
	Wall, CPU  float64
	Peak, Heap float64 // peak RSS, and growth of the live heap
}

// list runs a reflector until its store contains all Pods, and returns the cost.
func list(t task) result {
	transport := harness.MustGet(lwhttp.New(t.URL, nil))
	client := harness.MustGet(lw.NewClient(transport, lw.Pods(""), compact.NewCodec(lw.RawCodec{}), nil))
	reflector := cache.NewReflector(client, &lw.Options{StopOn: func(error) bool { return true }})
	before, began, cpu := harness.Heap(), time.Now(), harness.CPUTime()
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- reflector.Run(ctx) }()
	waitForSync(reflector.Store(), t.Pods, ended)
	r := result{Wall: time.Since(began).Seconds(), CPU: (harness.CPUTime() - cpu).Seconds()}
	stop()
	<-ended
	r.Peak, r.Heap = harness.PeakRSS(), harness.Heap()-before
	if reflector.Store().Len() != t.Pods {
		panic("the store does not contain all Pods")
	}
	runtime.KeepAlive(client) // the client keeps the compressor's dictionaries, which are part of the measured heap
	return r
}

// waitForSync blocks until the store has synced and prints the progress every two seconds. It panics if the reflector
// fails.
func waitForSync(store *cache.Store[*compact.Object], pods int, ended <-chan error) {
	tick := time.NewTicker(2 * time.Second)
	defer tick.Stop()
	for {
		select {
		case <-store.Synced():
			return
		case err := <-ended:
			panic(err)
		case <-tick.C:
			fmt.Fprintf(os.Stderr, "%d of %d Pods, %.2f GB\n", store.Len(), pods, harness.PeakRSS()/1e9)
		}
	}
}

// address contains the server's URL and the size of its list.
type address struct {
	URL   string
	Bytes float64 // estimated size of all Pods in JSON
}

func startServer(c collection) address {
	source, bytes := c.source(), 0
	const weighed = 1000 // number of Pods that are encoded to estimate the size
	for i := range weighed {
		bytes += len(source.Pod(i).Item())
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.FormValue("sendInitialEvents") != "true" {
			panic("expected a request for a streaming list")
		}
		w.Header().Set("Content-Type", "application/json")
		out := bufio.NewWriterSize(w, 64<<10)
		for i := range c.Pods {
			pod := source.Pod(i)
			pod.ResourceVersion = uint64(i + 1)
			_, _ = out.WriteString(pod.Event("ADDED"))
		}
		_, _ = out.Write(serve.InitialEvents(nil, strconv.Itoa(c.Pods)))
		_ = out.Flush()
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	}))
	return address{server.URL, float64(bytes) / weighed * float64(c.Pods)}
}
