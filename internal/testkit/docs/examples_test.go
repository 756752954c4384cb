package docs

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// beneath maps each exported type that needs no example to the reason.
var beneath = map[string]string{
	"lw.FrameTooLargeError": "is used in the same way as MalformedError",
	"lw.Keyed":              "has only the methods that every object has",
	"lw.ClientOptions":      "has only three fields",
	"lw.StatusCause":        "is part of StatusError",
	"lw.Phase":              "consists of constants",

	"lw.DecodeError":     "is shown in ExampleJSON of package codec",
	"cache.ChangeType":   "consists of constants",
	"cache.Change":       "is yielded by Informer.Changes",
	"lwtest.Request":     "is returned by Requests",
	"kubeconfig.Config":  "is returned by Load",
	"fallback.Transport": "is returned by New",
	"ws.Transport":       "is returned by New",
}

func TestEveryTypeHasAnExample(t *testing.T) {
	apis, err := filepath.Glob(filepath.Join(root, "api", "*.txt"))
	require.NoError(t, err)
	types, missing, unused := 0, []string{}, maps.Clone(beneath)
	for _, api := range apis {
		folder := strings.ReplaceAll(strings.TrimSuffix(filepath.Base(api), ".txt"), "-", "/")
		shown := shownIn(t, folder)
		text, err := os.ReadFile(api)
		require.NoError(t, err)
		for _, match := range regexp.MustCompile(`(?m)^type (\w+)`).FindAllStringSubmatch(string(text), -1) {
			name := filepath.Base(folder) + "." + match[1]
			delete(unused, name)
			if beneath[name] == "" && !shown[match[1]] {
				missing = append(missing, name)
			}
			types++
		}
	}
	require.Empty(t, missing, "these types have no example")
	require.Empty(t, unused, "these exceptions are for types that do not exist")
	require.Greater(t, types, 80)
}

// shownIn returns the identifiers that a package's examples use, and the identifiers that the examples document.
func shownIn(t *testing.T, folder string) map[string]bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root, folder, "example*_test.go"))
	require.NoError(t, err)
	require.NotEmpty(t, files, "%s has no examples", folder)
	shown := map[string]bool{}
	for _, path := range files {
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		require.NoError(t, err)
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.SelectorExpr:
				shown[n.Sel.Name] = true
			case *ast.FuncDecl:
				if name, ok := strings.CutPrefix(n.Name.Name, "Example"); ok {
					name, _, _ = strings.Cut(name, "_")
					shown[name] = true
				}
			}
			return true
		})
	}
	return shown
}
