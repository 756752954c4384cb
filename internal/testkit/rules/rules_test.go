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

// platforms contains the environment variables that select the native platform or browsers.
var platforms = [][]string{{"GOOS=linux", "GOARCH=amd64"}, {"GOOS=js", "GOARCH=wasm"}}

// heavy contains the packages that the WASM module must not import, even indirectly, with the reasons. A size is the
// growth of a WASM module after compression with brotli 11. docs/dependencies.md explains the measurements.
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

// mayImport limits which of this module's packages a package may import. Keys and values are packages, or prefixes that
// end with a slash. The first matching key applies. A package that matches no key may import any package. Tests may
// import any package.
var mayImport = []struct {
	packages string
	imports  []string
	reason   string
}{
	{"lw/internal/", []string{"lw/internal/"}, "the readers of JSON and protobuf know no streams"},
	{"lw/", []string{"lw", "lw/internal/", "internal/"}, "a codec works with any cache and transport"},
	{"lw", []string{"lw/internal/", "internal/"}, "lw defines the interfaces of its caches and transports"},
	{"cache/internal/", nil, "the containers know no objects"},
	{"cache/catalog", []string{"lw", "lw/discovery", "cache/", "cache", "internal/labels"}, "a catalog follows any server, and its users select objects by label"},
	{"cache/", []string{"lw", "cache"}, "a cache follows any source"},
	{"cache", []string{"lw", "cache/internal/"}, "a cache follows any source"},
	{"transport/", []string{"lw", "transport/", "internal/"}, "a transport knows no caches"},
	{"lwtest", []string{"lw", "lwtest/internal/", "internal/"}, "the server must not repeat the mistakes of the client"},
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

type importing struct {
	name    string // relative to the module
	imports []string
}

// imports returns the imports of all packages that have files for the platform. It tolerates packages that do not
// compile on the platform, because their imports have no files for it.
func imports(t *testing.T, platform []string) (all []importing) {
	t.Helper()
	for _, line := range goList(t, platform, "-e", "-f", `{{if .GoFiles}}{{.ImportPath}}{{range .Imports}},{{.}}{{end}}{{end}}`, "./...") {
		paths := strings.Split(line, ",")
		all = append(all, importing{strings.TrimPrefix(paths[0], module+"/"), paths[1:]})
	}
	require.NotEmpty(t, all)
	return all
}

// nativeLogger is the only file in lw and cache that may import log/slog, which is large. The WASM module does not
// contain this file.
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

func TestPackagesImportOnlyLowerLayers(t *testing.T) {
	matches := func(name, pattern string) bool {
		return name == pattern || strings.HasSuffix(pattern, "/") && strings.HasPrefix(name, pattern)
	}
	limited := map[string]bool{}
	for _, platform := range platforms {
		for _, line := range imports(t, platform) {
			for _, rule := range mayImport {
				if !matches(line.name, rule.packages) {
					continue
				}
				limited[rule.packages] = true
				for _, imported := range line.imports {
					other, ours := strings.CutPrefix(imported, module+"/")
					allowed := slices.ContainsFunc(rule.imports, func(pattern string) bool { return matches(other, pattern) })
					require.True(t, !ours || allowed, "%s imports %s, but %s", line.name, other, rule.reason)
				}
				break
			}
		}
	}
	require.Len(t, limited, len(mayImport), "a rule of mayImport matches no package")
}

func TestProductImportsNeitherTestkitNorTools(t *testing.T) {
	product := []string{"./lw/...", "./cache/...", "./transport/...", "./wasm", "./cmd/...", "./examples/..."}
	for _, platform := range platforms {
		for _, dep := range goList(t, platform, append([]string{"-e", "-deps"}, product...)...) {
			for _, folder := range []string{"/internal/hostile", "/internal/testkit/", "/internal/tools/"} {
				require.False(t, strings.HasPrefix(dep, module+folder), "a product package imports %s", dep)
			}
		}
	}
}

// Readers copy the examples and import the adapters. Neither works if they use packages that only this repository
// can import.
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

// internalImports returns a description of each import of an internal package in the Go files below folder. It skips
// tests. It parses the files itself, because go list cannot load other modules without their dependencies.
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

// A program must not contain the code of a dependency that it does not need. json-iterator is unmaintained and has
// bugs that lw/codec works around.
func TestOnlySomePackagesImportDependencies(t *testing.T) {
	only := map[string][]string{
		"github.com/json-iterator/":      {"lw/codec"},
		"github.com/modern-go/":          {"lw/codec"},
		"github.com/klauspost/compress/": {"cache/compact"},
		"go.yaml.in/yaml/":               {"transport/kubeconfig"},
		"github.com/gorilla/websocket":   {"lwtest", "transport/ws", "internal/testkit/wire"},
		"go.uber.org/goleak":             {"internal/testkit/leak"},
		"text/template":                  {}, // adds 1.3 MB to lwcat, because the linker then keeps every exported method
	}
	for _, line := range imports(t, platforms[0]) {
		for _, imported := range line.imports {
			for prefix, users := range only {
				require.False(t, strings.HasPrefix(imported, prefix) && !slices.Contains(users, line.name), "%s imports %s", line.name, imported)
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
	for _, line := range imports(t, platforms[1]) {
		require.False(t, slices.Contains(line.imports, "syscall/js") && line.name != "internal/jsx", "%s imports syscall/js", line.name)
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
