// Package rules tests the structure of the repository, for example which packages each package may import.
package rules

import (
	"encoding/json"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const (
	module = "github.com/seed-6d2a410a/listwatch"
	root   = "../../.."
)

// platforms contains the environment variables that select the native platform and browsers.
var platforms = [][]string{{"GOOS=linux", "GOARCH=amd64"}, {"GOOS=js", "GOARCH=wasm"}}

// heavy contains the packages that the WASM module must not import, even indirectly, and the reason. A size is the
// growth of a WASM module after brotli 11. docs/dependencies.md explains the measurements.
var heavy = map[string]string{
	"net/http":                     "1.55 MB; browsers have fetch",
	"net/url":                      "199 kB; a few lines of code can escape paths",
	"net":                          "browsers have no sockets",
	"fmt":                          "146 kB; uses reflection",
	"encoding/json":                "267 kB; uses reflection; use lw/internal/jsonscan",
	"log/slog":                     "295 kB; only lw/logger_native.go may import it",
	"log":                          "imports fmt; report events instead",
	"reflect":                      "prevents the linker from removing unused methods",
	"os":                           "browsers have no files",
	"bytes":                        "use package strings",
	"unique":                       "19 kB",
	"regexp":                       "large and not needed",
	"encoding/binary":              "1.9 kB, because it imports reflect",
	"github.com/json-iterator/go":  "367 kB through reflect2; only lw/codec may import it",
	"github.com/gorilla/websocket": "1.39 MB; only the native transport/ws and lwtest may import it",
}

// mayImport maps each package to the packages of this module that it may import. Tests may import any package.
var mayImport = map[string][]string{
	"lw":                    {"internal/builtin", "internal/jsx", "internal/redact", "lw/internal/jsonscan", "lw/internal/protoscan"},
	"lw/internal/jsonscan":  nil,
	"lw/internal/protoscan": {"lw/internal/jsonscan"},
	"lw/codec":              {"lw", "lw/internal/jsonscan", "internal/builtin"},
	"cache":                 {"lw", "cache/internal/slots"},
	"cache/compact":         {"lw"},
	"cache/workqueue":       nil,
	"cache/savefile":        {"lw", "cache"},
	"transport/http":        {"lw", "internal/jsx", "internal/redact", "internal/secretfile"},
	"transport/ws":          {"lw", "transport/http", "internal/jsx", "internal/redact"},
	"transport/fallback":    {"lw"},
	"transport/kubeconfig":  {"lw", "transport/http", "internal/nearest", "internal/secretfile"},
	"lwtest":                {"lw", "lwtest/internal/labels", "internal/revlog"},
	"examples/secrets":      {"lw", "cache"},
	"examples/etcd":         {"lw"},
	"examples/browser":      nil,
	"examples/server":       {"lwtest"},
	"examples/service":      {"lw", "cache", "transport/kubeconfig"},
	"examples/demo":         {"lw", "cache", "lwtest", "transport/http", "examples/browser", "examples/internal/cluster"},

	"examples/internal/cluster": {"lw", "lwtest"},

	"internal/testkit/sample":          nil,
	"internal/testkit/published":       nil,
	"internal/tools/publish":           {"internal/testkit/published"},
	"cache/internal/slots":             nil,
	"internal/revlog":                  nil,
	"internal/testkit/canary":          {"internal/testkit/certs", "lwtest"},
	"internal/testkit/hostile":         nil,
	"internal/testkit/hostile/servers": {"lw"},
	"internal/testkit/kubeassets":      nil,
	"internal/testkit/leak":            nil,
	"internal/testkit/lwcatscript":     nil,
	"internal/nearest":                 nil,
	"internal/testkit/need":            nil,
	"internal/testkit/nobody":          nil,
	"internal/testkit/certs":           nil,
	"internal/builtin":                 nil,
	"lwtest/internal/labels":           nil,
	"internal/jsx":                     nil,
	"internal/redact":                  nil,
	"internal/secretfile":              nil,
	"internal/testkit/wire":            nil,
	"internal/tools/bundle":            {"lw", "cache"},
	"internal/tools/wasmpack":          nil,
	"internal/testkit/scenarios":       {"lw", "cache", "transport/http", "transport/ws"},
	"internal/testkit/sim":             {"lw", "cache", "internal/revlog"},
	"internal/testkit/rules":           nil,
	"internal/tools/release":           nil,
	"internal/tools/prose":             nil,
	"internal/testkit/docs":            nil,
	"internal/tools/wasmbuild":         {"internal/tools/wasmpack"},

	"internal/testkit/wire/serve": {"internal/testkit/wire"},
	"internal/testkit/stage":      {"lw", "lwtest", "examples/browser", "internal/testkit/sample"},
	"wasm":                        {"lw", "cache", "transport/http", "transport/ws", "transport/fallback", "internal/jsx", "wasm/internal/turns"},
	"wasm/internal/turns":         {"lw"},

	"examples/scheduler":      {"lw", "cache", "cache/workqueue"},
	"examples/scheduler/demo": {"lwtest", "transport/http", "examples/scheduler"},

	"cmd/lwcat": {
		"lw", "cache", "transport/http", "transport/ws", "transport/fallback", "transport/kubeconfig",
		"cmd/lwcat/internal/output", "cmd/lwcat/internal/table", "cmd/lwcat/internal/condition", "cmd/lwcat/internal/recording", "cmd/lwcat/internal/discovery", "internal/nearest", "internal/redact",
	},

	"cmd/lwcat/internal/output":    {"lw", "cmd/lwcat/internal/jsonpath", "cmd/lwcat/internal/diff"},
	"cmd/lwcat/internal/diff":      {"lw"},
	"cmd/lwcat/internal/table":     {"lw"},
	"cmd/lwcat/internal/jsonpath":  {"lw"},
	"cmd/lwcat/internal/condition": {"lw", "internal/nearest"},
	"cmd/lwcat/internal/recording": {"lw", "internal/redact"},
	"cmd/lwcat/internal/discovery": {"lw", "internal/nearest"},
}

func goList(t *testing.T, env []string, args ...string) []string {
	t.Helper()
	cmd := exec.Command("go", append([]string{"list"}, args...)...)
	cmd.Dir, cmd.Env = root, append(os.Environ(), env...)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	require.NoError(t, err, "%s", &stderr)
	return strings.Fields(string(out))
}

// packages returns the packages that have files for the platform. Some of them do not compile there, because they
// import packages without files for the platform.
func packages(t *testing.T, platform []string) []string {
	t.Helper()
	return goList(t, platform, "-e", "-f", "{{if .GoFiles}}{{.ImportPath}}{{end}}", "./...")
}

// nativeLogger is the only file in lw and cache that may import log/slog, which is large. Browsers do not compile it.
const nativeLogger = "lw/logger_native.go"

// withoutNativeLogger returns a flag that makes go list ignore the imports of nativeLogger.
func withoutNativeLogger(t *testing.T) string {
	t.Helper()
	file, err := filepath.Abs(filepath.Join(root, nativeLogger))
	require.NoError(t, err)
	require.FileExists(t, file)
	folder := t.TempDir()
	empty, overlay := filepath.Join(folder, "empty.go"), filepath.Join(folder, "overlay.json")
	require.NoError(t, os.WriteFile(empty, []byte("package lw\n"), 0o600))
	replace, err := json.Marshal(map[string]map[string]string{"Replace": {file: empty}})
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(overlay, replace, 0o600))
	return "-overlay=" + overlay
}

func TestLightPackagesAvoidHeavyPackages(t *testing.T) {
	overlay := withoutNativeLogger(t)
	for _, platform := range platforms {
		deps := goList(t, platform, overlay, "-deps", "./lw", "./cache")
		require.Contains(t, deps, module+"/lw")
		for _, dep := range deps {
			require.Empty(t, heavy[dep], "lw and cache must not import %s on %v", dep, platform)
		}
		allowed := goList(t, platform, "std")
		for _, dep := range deps {
			ours := strings.HasPrefix(dep, module+"/")
			require.True(t, ours || slices.Contains(allowed, dep) || strings.Contains(dep, "internal/"), "%s is not in the standard library", dep)
		}
	}
}

func TestNativeLoggerImportsOnlySlog(t *testing.T) {
	tree, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, nativeLogger), nil, parser.ImportsOnly)
	require.NoError(t, err)
	require.Len(t, tree.Imports, 1)
	require.Equal(t, `"log/slog"`, tree.Imports[0].Path.Value)
	require.NotContains(t, goList(t, platforms[1], "-deps", "./lw"), "log/slog")
}

func TestPackagesImportOnlyAllowedPackages(t *testing.T) {
	for _, platform := range platforms {
		for _, path := range packages(t, platform) {
			name := strings.TrimPrefix(path, module+"/")
			allowed, known := mayImport[name]
			require.True(t, known, "add %s to the map mayImport", name)
			for _, imported := range goList(t, platform, "-e", "-f", `{{join .Imports " "}}`, path) {
				if other, ours := strings.CutPrefix(imported, module+"/"); ours {
					require.Contains(t, allowed, other, "%s imports %s", name, other)
				}
			}
		}
	}
}

func TestProductImportsNeitherTestkitNorTools(t *testing.T) {
	product := []string{"./lw/...", "./cache/...", "./transport/...", "./wasm", "./cmd/...", "./examples/..."}
	for _, platform := range platforms {
		for _, dep := range goList(t, platform, append([]string{"-e", "-deps"}, product...)...) {
			for _, folder := range []string{"/internal/testkit/", "/internal/tools/"} {
				require.False(t, strings.HasPrefix(dep, module+folder), "a product package imports %s", dep)
			}
		}
	}
}

// Readers copy the examples and import the adapters. Neither works with packages that only this repository can import.
func TestAdaptersAndExamplesImportNoInternalPackages(t *testing.T) {
	for _, folder := range []string{"adapters", "examples"} {
		require.Empty(t, internalImports(t, filepath.Join(root, folder)))
	}
}

func TestInternalImportsAreFound(t *testing.T) {
	folder := t.TempDir()
	for name, imported := range map[string]string{
		"bad/bad.go": "/internal/labels", "good.go": "/lw", "own.go": "/examples/internal/cluster", "some_test.go": "/internal/clock",
	} {
		file := filepath.Join(folder, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
		require.NoError(t, os.WriteFile(file, []byte("package p\n\nimport _ \""+module+imported+"\"\n"), 0o600))
	}
	require.Equal(t, []string{filepath.Join(folder, "bad/bad.go") + " imports internal/labels"}, internalImports(t, folder))
}

// internalImports describes each import of the folder internal in the Go files below folder, except in tests. It parses
// the files, because go list cannot load other modules without their dependencies.
func internalImports(t *testing.T, folder string) (found []string) {
	t.Helper()
	count := 0
	require.NoError(t, filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		count++
		tree, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		require.NoError(t, err)
		for _, spec := range tree.Imports {
			if name, ok := strings.CutPrefix(strings.Trim(spec.Path.Value, `"`), module+"/"); ok && strings.HasPrefix(name, "internal/") {
				found = append(found, path+" imports "+name)
			}
		}
		return nil
	}))
	require.NotZero(t, count, folder)
	return found
}

// Programs that do not need a dependency must not contain its code. json-iterator is unmaintained and has bugs that
// lw/codec works around.
func TestOnlySomePackagesImportDependencies(t *testing.T) {
	only := map[string][]string{
		"github.com/json-iterator/":      {"lw/codec"},
		"github.com/modern-go/":          {"lw/codec"},
		"github.com/klauspost/compress/": {"cache/compact"},
		"go.yaml.in/yaml/":               {"transport/kubeconfig", "cmd/lwcat/internal/output"},
		"github.com/gorilla/websocket":   {"lwtest", "transport/ws", "internal/testkit/wire"},
		"go.uber.org/goleak":             {"internal/testkit/leak"},
		"text/template":                  {}, // adds 1.3 MB to lwcat, because the linker then keeps every exported method
	}
	for _, path := range goList(t, nil, "./...") {
		for _, imported := range goList(t, nil, "-f", `{{join .Imports " "}}`, path) {
			for prefix, users := range only {
				known := slices.Contains(users, strings.TrimPrefix(path, module+"/"))
				require.False(t, strings.HasPrefix(imported, prefix) && !known, "%s imports %s", path, imported)
			}
		}
	}
}

func TestWASMModuleAvoidsHeavyPackages(t *testing.T) {
	for _, dep := range goList(t, platforms[1], "-deps", "./transport/...", "./wasm") {
		require.Empty(t, heavy[dep], "the WASM module imports %s", dep)
	}
}

func TestOnlyJsxImportsSyscallJS(t *testing.T) {
	for _, path := range packages(t, platforms[1]) {
		name := strings.TrimPrefix(path, module+"/")
		imported := goList(t, platforms[1], "-e", "-f", `{{join .Imports " "}}`, path)
		require.False(t, slices.Contains(imported, "syscall/js") && name != "internal/jsx", "%s imports syscall/js", name)
	}
}

// The main module must not depend on client-go, kube-apiserver or etcd.
func TestMainModuleHasFewDependencies(t *testing.T) {
	for _, m := range goList(t, nil, "-m", "-f", "{{.Path}}", "all") {
		require.False(t, strings.HasPrefix(m, "k8s.io/") || strings.HasPrefix(m, "go.etcd.io/"), m)
	}
	direct := goList(t, nil, "-m", "-f", "{{if not .Indirect}}{{.Path}}{{end}}", "all")
	require.Equal(t, []string{
		module,
		"github.com/gorilla/websocket",
		"github.com/json-iterator/go",
		"github.com/klauspost/compress",
		"github.com/modern-go/reflect2",
		"github.com/rogpeppe/go-internal",
		"github.com/spf13/cobra",
		"github.com/spf13/pflag",
		"github.com/stretchr/testify",
		"go.uber.org/goleak",
		"go.yaml.in/yaml/v3",
		"golang.org/x/sys",
		"golang.org/x/time",
	}, direct, "docs/dependencies.md must describe each direct dependency")
}
