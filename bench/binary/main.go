// Command binary compares the size of two programs that print the changes of all Pods. The program listwatch uses an
// informer of listwatch, and clientgo uses a dynamic informer of client-go. For each program, the command prints the
// stripped size for linux/amd64 and the number of modules and packages.
package main

import (
	"context"
	"debug/buildinfo"
	"os"
	"os/exec"
	"strings"

	"github.com/seed-6d2a410a/listwatch/bench/internal/harness"
	"github.com/seed-6d2a410a/listwatch/internal/testkit/published"
)

// figures contains the size of a program in bytes, and the numbers of its modules and packages.
type figures struct{ bytes, modules, packages float64 }

func main() { harness.Main("binary", compare) }

func compare(ctx context.Context) error {
	args := []string{"-ldflags=-s -w", "./binary/listwatch", "./binary/clientgo"}
	if !*harness.Short { // these settings recompile every package, which takes too long for a short run
		args = append([]string{"-trimpath"}, args...)
		for name, value := range map[string]string{"GOOS": "linux", "GOARCH": "amd64", "CGO_ENABLED": "0"} {
			if err := os.Setenv(name, value); err != nil {
				return err
			}
		}
	}
	programs, err := harness.Build(ctx, args...)
	if err != nil {
		return err
	}
	defer programs.Remove()
	var found []figures
	for _, name := range []string{"listwatch", "clientgo"} {
		one, err := inspect(ctx, programs, name)
		if err != nil {
			return err
		}
		found = append(found, one)
	}
	return printAll(found[0], found[1])
}

func inspect(ctx context.Context, programs *harness.Programs, name string) (f figures, err error) {
	file, err := os.Stat(programs.Path(name))
	if err != nil {
		return f, err
	}
	info, err := buildinfo.ReadFile(programs.Path(name))
	if err != nil {
		return f, err
	}
	list := exec.CommandContext(ctx, "go", "list", "-deps", "-f", "{{if not .Standard}}{{.ImportPath}}{{end}}", "./binary/"+name)
	packages, err := list.Output()
	return figures{float64(file.Size()), float64(len(info.Deps)), float64(len(strings.Fields(string(packages))))}, err
}

func printAll(ours, theirs figures) error {
	table := harness.NewTable(os.Stdout, "linux/amd64, stripped\tlistwatch\tclient-go\tratio")
	row := func(name, format string, ours, theirs float64) {
		table.Row("%s\t"+format+"\t"+format+"\t%.3f", name, ours, theirs, ours/theirs)
	}
	row("MB", "%.2f", ours.bytes/1e6, theirs.bytes/1e6)
	row("modules, excluding the main module", "%.0f", ours.modules, theirs.modules)
	row("packages outside the standard library", "%.0f", ours.packages, theirs.packages)
	if err := table.Flush(); err != nil {
		return err
	}
	results := published.Results{}
	for name, f := range map[string]figures{"listwatch": ours, "client-go": theirs} {
		results.Set("size, MB", name, f.bytes/1e6)
		results.Set("modules", name, f.modules)
	}
	return harness.Save("binary", results)
}
