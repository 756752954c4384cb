// Command wasm compares the client and the store, compiled to WebAssembly, with equivalent plain JavaScript in Node and
// Chromium. It measures how fast they decode and store events and a list, and the cost of store operations. The
// environment variable CHROME may contain the path of Chromium.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"

	"github.com/seed-6d2a410a/listwatch/bench/internal/harness"
)

var (
	pods   = flag.Int("pods", 1000, "number of Pods; each is modified three times")
	rounds = flag.Int("rounds", 3, "number of rounds; the fastest pass of all rounds is printed")
	passes = flag.Int("passes", 10, "passes over the same data per round; the first three warm up the compilers")
)

func main() { harness.Main("wasm", compare) }

func compare(ctx context.Context) error {
	if *harness.Short {
		*pods, *rounds, *passes = 100, 1, warmUp+1
	}
	node, err := exec.LookPath("node")
	if err != nil {
		fmt.Println("Node is missing, so nothing can be measured. On Debian, run: apt install nodejs chromium")
		return nil
	}
	built, err := build()
	if err != nil {
		return err
	}
	files := map[string][]byte{program: built, "events": newEvents(*pods, 3), "list": newList(3 * *pods)}
	s, err := startServer(files)
	if err != nil {
		return err
	}
	places := []place{{"Node", s.inNode(node)}}
	if chromium := findChromium(); chromium == "" {
		fmt.Println("Chromium is missing, so only Node is measured. On Debian, run: apt install chromium")
	} else {
		stop, err := s.startChromium(chromium)
		if err != nil {
			return err
		}
		defer stop()
		places = append(places, place{"Chromium", s.inPage})
	}
	all := newResults(places, files)
	if err := harness.Rounds(*rounds, measurements(places), measurement.String, func(m measurement) error {
		return all.measure(ctx, m)
	}); err != nil {
		return err
	}
	if err := all.print(os.Stdout); err != nil {
		return err
	}
	if len(places) == 1 && !*harness.Write { // the documents also contain figures from Chromium
		return nil
	}
	return harness.Save("wasm", all.published())
}
