// Binary compares two programs that do the same, print what happens to a cluster's Pods, with an informer of listwatch and with
// a dynamic one of client-go: the size of the program for linux/amd64, stripped (-trimpath, -s -w, without cgo), and of how
// many modules and packages it is made. Where they can run here, both are run against the embedded server first, and have to
// print the same.
package main

import (
	"context"
	"debug/buildinfo"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strings"
	"syscall"
	"text/tabwriter"

	"github.com/seed-6d2a410a/listwatch/bench/internal/measure"
)

var short = flag.Bool("short", false, "little work, only to see that all works: without -trimpath, so that what was compiled before need not be again")

// result is what a program is like.
type result struct{ bytes, modules, packages float64 }

func main() {
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	measure.Must(compare(ctx))
}

func compare(ctx context.Context) error {
	for name, value := range map[string]string{"GOOS": "linux", "GOARCH": "amd64", "CGO_ENABLED": "0"} {
		measure.Must(os.Setenv(name, value))
	}
	args := []string{"-ldflags=-s -w", "-trimpath", "./binary/listwatch", "./binary/clientgo"}
	if *short {
		args = append(args[:1], args[2:]...)
	}
	programs, err := measure.Build(ctx, args...)
	if err != nil {
		return err
	}
	defer programs.Remove()
	if runtime.GOOS+runtime.GOARCH == "linuxamd64" {
		for _, name := range []string{"listwatch", "clientgo"} {
			if err := follows(ctx, programs.Path(name)); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
	}
	ours, theirs := inspect(ctx, programs, "listwatch"), inspect(ctx, programs, "clientgo")
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "linux/amd64, stripped\tlistwatch\tclient-go\tratio\tasked")
	row := func(name, format string, mine, other float64, said string) {
		fmt.Fprintf(w, "%s\t"+format+"\t"+format+"\t%.3f\t%s\n", name, mine, other, mine/other, said)
	}
	row("MB", "%.2f", ours.bytes/1e6, theirs.bytes/1e6, measure.Asked("at most 7", ours.bytes <= 7e6))
	row("modules beside the program's own", "%.0f", ours.modules, theirs.modules, measure.Asked("at most 5", ours.modules <= 5))
	row("packages that are not Go's", "%.0f", ours.packages, theirs.packages, "")
	return w.Flush()
}

func inspect(ctx context.Context, programs *measure.Built, name string) result {
	file, err := os.Stat(programs.Path(name))
	measure.Must(err)
	info, err := buildinfo.ReadFile(programs.Path(name))
	measure.Must(err)
	list, err := exec.CommandContext(ctx, "go", "list", "-deps", "-f", "{{if not .Standard}}{{.ImportPath}}{{end}}", "./binary/"+name).Output()
	measure.Must(err)
	return result{float64(file.Size()), float64(len(info.Deps)), float64(len(strings.Fields(string(list))))}
}
