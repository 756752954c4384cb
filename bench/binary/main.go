// Command binary compares the size of two programs that print the changes to all Pods. The program in folder listwatch
// uses listwatch's informer. The program in folder clientgo uses client-go's dynamic informer. For each program, the
// command prints the stripped size for linux/amd64 in MB, and the number of modules on which the program depends.
package main

import (
	"context"
	"debug/buildinfo"
	"os"
	"path/filepath"

	"github.com/seed-6d2a410a/listwatch/bench/internal/harness"
	"github.com/seed-6d2a410a/listwatch/internal/testkit/published"
)

func main() { harness.Main(compare) }

func compare(ctx context.Context) error {
	args := []string{"-ldflags=-s -w", "./binary/listwatch", "./binary/clientgo"}
	if !*harness.Short { // these settings recompile every package, which takes too long for a short run
		args = append([]string{"-trimpath"}, args...)
		for name, value := range map[string]string{"GOOS": "linux", "GOARCH": "amd64", "CGO_ENABLED": "0"} {
			harness.Must(os.Setenv(name, value))
		}
	}
	folder, err := harness.Build(ctx, args...)
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	results := published.Results{}
	for program, name := range map[string]string{"listwatch": "listwatch", "clientgo": "client-go"} {
		path := filepath.Join(folder, program)
		results.Set("size, MB", name, float64(harness.MustGet(os.Stat(path)).Size())/1e6)
		results.Set("modules", name, float64(len(harness.MustGet(buildinfo.ReadFile(path)).Deps)))
	}
	return harness.Save("binary", results)
}
