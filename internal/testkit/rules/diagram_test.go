package rules

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var arrow = regexp.MustCompile(`(?m)^    ([\w/]+)(?: --> (.+))?$`)

func TestDiagramMatchesImports(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "docs", "architecture.md"))
	require.NoError(t, err)
	_, rest, found := strings.Cut(string(text), "```mermaid\n")
	require.True(t, found)
	diagram, _, _ := strings.Cut(rest, "```")
	drawn := map[string][]string{}
	for _, match := range arrow.FindAllStringSubmatch(diagram, -1) {
		imports := strings.FieldsFunc(match[2], func(r rune) bool { return r == ' ' || r == '&' })
		drawn[match[1]] = append(drawn[match[1]], imports...)
		for _, name := range imports {
			drawn[name] = append([]string{}, drawn[name]...)
		}
	}
	product := productImports()
	require.Equal(t, slices.Sorted(maps.Keys(product)), slices.Sorted(maps.Keys(drawn)), "the diagram must contain exactly the product's packages")
	for name := range product {
		require.Contains(t, string(text), "| `"+name+"/` |", "no table has a row for %s", name)
		require.ElementsMatch(t, directImports(product, name), drawn[name], "the diagram must show the imports of %s", name)
	}
}

// productImports returns the allowed imports of each package in the diagram. The packages in cmd/lwcat count as one
// package.
func productImports() map[string][]string {
	imports := map[string][]string{}
	for path, allowed := range mayImport {
		name := owner(path)
		if name == "" {
			continue
		}
		imports[name] = append([]string{}, imports[name]...)
		for _, other := range allowed {
			if other = owner(other); other != name {
				imports[name] = append(imports[name], other)
			}
		}
	}
	return imports
}

// owner returns the diagram's name for a package, or "" if the diagram does not show the package.
func owner(path string) string {
	for _, folder := range []string{"examples/", "internal/testkit/", "internal/tools/", "wasm/test/"} {
		if strings.HasPrefix(path, folder) {
			return ""
		}
	}
	if strings.HasPrefix(path, "cmd/lwcat/") {
		return "cmd/lwcat"
	}
	return path
}

// directImports returns the imports of a package, except those that it also imports indirectly.
func directImports(imports map[string][]string, name string) []string {
	var direct []string
	for _, other := range imports[name] {
		implied := slices.ContainsFunc(imports[name], func(via string) bool { return via != other && reaches(imports, via, other) })
		if !implied && !slices.Contains(direct, other) {
			direct = append(direct, other)
		}
	}
	return direct
}

func reaches(imports map[string][]string, from, to string) bool {
	return from == to || slices.ContainsFunc(imports[from], func(via string) bool { return reaches(imports, via, to) })
}
