// Command list measures how expensive it is to sync an informer with 17,736 Pods, or 114 MB of JSON. It
// prints the CPU time in seconds, including garbage collection, and the peak RSS in MB. It then measures an
// informer that stores 1,000,000 Pods with cache/compact. The server runs in a separate process, and each
// measurement in a new one.
//
// All clients request resourceVersion "0" and pages of 500 Pods. Like a kube-apiserver with a watch cache, the
// server responds with a single page. The server rejects streaming lists in the first part of the measurement and
// serves them in the second.
package main

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/seed-6d2a410a/listwatch/bench/internal/harness"
	"github.com/seed-6d2a410a/listwatch/bench/internal/serve"
	"github.com/seed-6d2a410a/listwatch/internal/testkit/published"
)

var rounds = harness.Rounds(3)

const protobuf = "client-go, typed protobuf"

// workers contains each contender's program, which is in a folder next to this file, and the role in which it runs.
var workers = map[string][2]string{
	"listwatch, lw.RawCodec": {"listwatch", "raw"},
	protobuf:                 {"clientgo", "protobuf"},
	"client-go, typed JSON":  {"clientgo", "JSON"},
	"client-go, dynamic":     {"clientgo", "dynamic"},
}

func main() { harness.Main(compare, harness.Server("server", serve.Start)) }

func compare(ctx context.Context) error {
	folder, err := harness.Build(ctx, "./list/...")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	results := published.Results{}
	for _, streaming := range []bool{false, true} {
		if err := compareLists(ctx, folder, streaming, results); err != nil {
			return err
		}
	}
	if err := harness.Save("list", results); err != nil {
		return err
	}
	return million(ctx, folder)
}

// compareLists measures all contenders, with or without streaming lists, and adds the figures to results. Combinations
// that are not measured remain empty. folder contains the programs.
func compareLists(ctx context.Context, folder string, streaming bool, results published.Results) error {
	c, title, contenders := serve.Config{Pods: harness.Size(17_736, 200), Streaming: streaming, Protobuf: !streaming}, ", one response", slices.Sorted(maps.Keys(workers))
	if streaming { // the server streams only JSON, so the table has no figure for protobuf
		title = ", streaming list"
		contenders = slices.DeleteFunc(contenders, func(name string) bool { return name == protobuf })
		results.Set("CPU time in s"+title, protobuf)
		results.Set("peak RSS in MB"+title, protobuf)
	}
	found, err := harness.Compare(*rounds, contenders, func(contender string) (harness.Figures, error) {
		figures, err := measure(ctx, c, filepath.Join(folder, workers[contender][0]), workers[contender][1])
		return harness.Figures{"CPU time in s" + title: figures["CPU time"], "peak RSS in MB" + title: figures["peak RSS"]}, err
	})
	if err != nil {
		return err
	}
	maps.Copy(results, harness.Medians(found))
	return nil
}

// million measures a streaming list of 1,000,000 Pods, which the server encodes on the fly from 1,000 templates.
func million(ctx context.Context, folder string) error {
	c := serve.Config{Pods: harness.Size(1_000_000, 2000), Templates: harness.Size(1000, 100), Streaming: true, Batch: 8}
	found, err := measure(ctx, c, filepath.Join(folder, "listwatch"), "compact")
	if err != nil {
		return err
	}
	results := published.Results{}
	results.Set("peak RSS, GB", "listwatch", found["peak RSS"]/1000)
	results.Set("CPU time, minutes", "listwatch", found["CPU time"]/60)
	return harness.Save("million", results)
}

// measure starts a new server, runs a program that connects to it, and returns the program's measurements. It fails if
// the program did not receive all objects.
func measure(ctx context.Context, c serve.Config, program, role string) (found harness.Figures, err error) {
	var server serve.Address
	stop, err := harness.Serve(ctx, "server", c, &server)
	if err != nil {
		return nil, err
	}
	defer stop()
	err = harness.RunProgram(ctx, program, role, server.URL, &found)
	if err == nil && found["objects"] != float64(c.Pods) {
		err = fmt.Errorf("the informer has %v objects, want %d", found["objects"], c.Pods)
	}
	return found, err
}
