// Wasm compares the client and the store as WebAssembly with plain JavaScript that does the same, in Node and in Chromium,
// in one run and in turns: how fast watch events and a list are decoded and stored, what a store's operations cost, and what
// memory is held. CHROME names the browser.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"

	"github.com/seed-6d2a410a/listwatch/bench/internal/measure"
)

var (
	pods   = flag.Int("pods", 1000, "how many there are; each is modified three times")
	rounds = flag.Int("rounds", 3, "how often all is measured, in turns")
	passes = flag.Int("passes", 10, "how often a round reads the same; the first three are for the compilers")
	held   = flag.Int("held", 10_000, "how many Pods are held to measure memory")
	short  = flag.Bool("short", false, "little work, only to see that all works")
)

func main() {
	flag.Parse()
	if *short {
		*pods, *rounds, *passes, *held = 100, 1, warming+1, 100
	}
	node, err := exec.LookPath("node")
	if err != nil {
		fmt.Println("There is no Node, so nothing is measured as WebAssembly; on Debian: apt install nodejs chromium")
		return
	}
	measure.Must(compare(node))
}

func compare(node string) error {
	files, err := build()
	if err != nil {
		return err
	}
	files["events"], files["list"], files["held"] = newEvents(*pods, 3), newList(3**pods), newList(*held)
	s, err := serve(files)
	if err != nil {
		return err
	}
	places := []where{{"Node", s.node(node)}}
	if chrome := browser(); chrome == "" {
		fmt.Println("There is no Chromium, so only Node is measured; on Debian: apt install chromium")
	} else {
		stop, err := s.open(chrome)
		if err != nil {
			return err
		}
		defer stop()
		places = append(places, where{"Chromium", s.page(false)}, where{"its worker", s.page(true)})
	}
	all := newResults(places, files)
	for round := range *rounds {
		fmt.Fprintf(os.Stderr, "round %d of %d\n", round+1, *rounds)
		if err := all.round(context.Background()); err != nil {
			return err
		}
	}
	all.print(os.Stdout)
	return all.memory(context.Background())
}

// browser is the path of Chromium; "" if there is none.
func browser() string {
	for _, name := range []string{os.Getenv("CHROME"), "chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	return ""
}
