// Command mutants measures what the tests of a package do not notice:
//
//	go run ./internal/mutants -file 'skip' ./lw
//
// It makes mutants, which are the package with one small mistake, compiles all of them into one binary of the package's tests, each
// behind a number, and runs the tests that reach it with each of them. It ends with a table and those mutants that no test has
// noticed. Only the tests in the package's own folder count. Nothing is written beside the sources.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"regexp"
	"runtime"
	"syscall"
	"time"
)

func main() {
	file := flag.String("file", "", "a regular expression of the files to mutate, as 'skip|string'; all")
	workers := flag.Int("workers", 3*runtime.NumCPU(), "how many mutants are tried at a time, of which many only wait")
	flag.Parse()
	wanted, err := regexp.Compile(*file)
	if err == nil && (flag.NArg() != 1 || *workers < 1) {
		err = errors.New("it takes one package, as ./lw, and at least one worker")
	}
	if err == nil {
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
		defer stop()
		o := options{wanted: wanted, workers: *workers, least: limits{cpu: 2 * time.Second, wall: 30 * time.Second}}
		err = measure(ctx, flag.Arg(0), o, os.Stdout, os.Stderr)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(1)
	}
}

type options struct {
	wanted  *regexp.Regexp // the files
	workers int
	least   limits
}

// measure writes the result to out, and to told meanwhile how far it is.
func measure(ctx context.Context, name string, o options, out, told io.Writer) error {
	folder, err := os.MkdirTemp("", "mutants")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	p, m, err := mutated(name, folder)
	if err != nil {
		return err
	}
	var tried []*mutant
	for _, mutant := range m.mutants {
		if o.wanted.MatchString(mutant.file) {
			tried = append(tried, mutant)
		}
	}
	if len(tried) == 0 {
		return fmt.Errorf("there is nothing to mutate in the files %q of %s", o.wanted, name)
	}
	fmt.Fprintf(told, "%d mutants; compiling\n", len(tried))
	b, err := compile(ctx, p, folder)
	if err != nil {
		return err
	}
	b.least = o.least
	err = each(b.tests, o.workers, told, "tests without a mutant", func(t *test) error {
		return b.alone(ctx, t, len(m.mutants))
	})
	if err != nil {
		return err
	}
	err = each(tried, o.workers, told, "mutants", func(mutant *mutant) (err error) {
		mutant.came, err = b.try(ctx, mutant.number)
		return err
	})
	if err == nil {
		report(out, tried, m.constant)
	}
	return err
}
