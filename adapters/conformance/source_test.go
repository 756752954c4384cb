package conformance

import (
	"bytes"
	_ "embed"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// suites returns the suites selected by CONFORMANCE. By default, these are the controller-runtime packages whose
// tests use a cache.
func suites() []string {
	if chosen := os.Getenv("CONFORMANCE"); chosen != "" {
		return strings.Split(chosen, ",")
	}
	return []string{"cache", "source", "client", "controller", "builder", "manager"}
}

// constructor is a template for a Go file that defines the function newCache. Its parameter is the package name.
//
//go:embed testdata/newcache.txt
var constructor string

// copyOfControllerRuntime returns a folder with a copy of controller-runtime that calls newCache instead of cache.New.
func copyOfControllerRuntime(t *testing.T) string {
	module := strings.TrimSpace(string(run(t, ".", "go", "list", "-m", "-f", "{{.Dir}}", "sigs.k8s.io/controller-runtime")))
	require.NotEmpty(t, module, "controller-runtime is not in the module cache")
	to := t.TempDir()
	copyTree(t, module, to)
	for path, name := range map[string]string{
		"pkg/cache/cache_test.go": "cache_test", "pkg/cache/informer_cache_test.go": "cache_test", "pkg/cluster/cluster.go": "cluster",
		"pkg/builder/controller_test.go":         "builder",
		"pkg/client/consistency_envtest_test.go": "client_test", "pkg/source/source_suite_test.go": "source_test",
	} {
		replaceConstructor(t, filepath.Join(to, path))
		file := "newcache.go"
		if strings.HasSuffix(path, "_test.go") {
			file = "newcache_test.go"
		}
		write(t, filepath.Join(to, filepath.Dir(path), file), fmt.Sprintf(constructor, name))
	}
	requireAdapters(t, to)
	return to
}

func copyTree(t *testing.T, from, to string) {
	require.NoError(t, filepath.WalkDir(from, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		relative, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		if entry.IsDir() {
			return os.MkdirAll(filepath.Join(to, relative), 0o755)
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(to, relative), text, 0o644)
	}))
}

var stock = regexp.MustCompile(`\bcache\.New\b`)

func replaceConstructor(t *testing.T, path string) {
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Regexp(t, stock, string(text), path)
	write(t, path, string(stock.ReplaceAll(text, []byte("newCache"))))
}

// requireAdapters adds the adapters module and its checksums to the copy's go.mod and go.sum.
func requireAdapters(t *testing.T, module string) {
	adapters, err := filepath.Abs("..")
	require.NoError(t, err)
	const path = "github.com/seed-6d2a410a/listwatch"
	edit := []string{"mod", "edit", "-require=" + path + "/adapters@v0.0.0",
		"-replace=" + path + "/adapters=" + adapters, "-replace=" + path + "=" + filepath.Dir(adapters)}
	run(t, module, "go", edit...)
	sums, err := os.ReadFile(filepath.Join(module, "go.sum"))
	require.NoError(t, err)
	ours, err := os.ReadFile(filepath.Join(adapters, "go.sum"))
	require.NoError(t, err)
	write(t, filepath.Join(module, "go.sum"), string(bytes.Join([][]byte{sums, ours}, nil)))
}

func write(t *testing.T, path, text string) {
	require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
}
