// Command fuzz runs the fuzz targets of modules, one after the other, and says of each what it did:
//
//	go run ./internal/fuzz -time 10m -only 'lw/Fuzz' . e2e/clients
//
// The arguments are the modules' folders. What it found is written to testdata/fuzz beneath the package, as go test does, and the
// run goes on with the other targets.
package main

import (
	"cmp"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"time"
)

func main() {
	each := flag.Duration("time", time.Minute, "how long each target runs")
	only := flag.String("only", "", "a regular expression of the targets to run, as 'transport/ws/FuzzFrames'; all")
	workers := flag.Int("workers", 0, "how many processes a target has; one for each processor")
	flag.Parse()
	wanted, err := regexp.Compile(*only)
	if err == nil {
		err = run(flag.Args(), wanted, *each, *workers)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "fuzz:", err)
		os.Exit(1)
	}
}

func run(modules []string, wanted *regexp.Regexp, each time.Duration, workers int) error {
	var targets []target
	for _, module := range modules {
		found, err := find(module)
		if err != nil {
			return err
		}
		for _, t := range found {
			if wanted.MatchString(t.String()) {
				targets = append(targets, t)
			}
		}
	}
	if len(targets) == 0 {
		return fmt.Errorf("there is no target %s in %v", wanted, modules)
	}
	binaries, err := os.MkdirTemp("", "fuzz")
	if err != nil {
		return err
	}
	defer os.RemoveAll(binaries)
	failed := 0
	for i, t := range targets {
		fmt.Printf("%d/%d %s: ", i+1, len(targets), t)
		did, err := t.play(filepath.Join(binaries, "test.exe"), each, workers)
		if err != nil {
			failed++
			fmt.Printf("FAILED\n%s\n", cmp.Or(did.told, err.Error()))
			continue
		}
		fmt.Println(did)
	}
	if failed > 0 {
		return fmt.Errorf("%d of %d targets failed", failed, len(targets))
	}
	return nil
}
