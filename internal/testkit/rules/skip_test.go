package rules

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// In CI, package need fails tests instead of skipping them. Skips because of -short are allowed.
func TestOnlyPackageNeedSkipsTests(t *testing.T) {
	files := 0
	require.NoError(t, filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if entry.Name() == "node_modules" || entry.Name() == "need" {
			return fs.SkipDir
		}
		if err != nil || !strings.HasSuffix(path, ".go") {
			return err
		}
		files++
		tree, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		ast.Inspect(tree, func(n ast.Node) bool {
			if condition, ok := n.(*ast.IfStmt); ok && isShort(condition.Cond) {
				return false
			}
			name, ok := n.(*ast.SelectorExpr)
			require.False(t, ok && slices.Contains([]string{"Skip", "Skipf", "SkipNow"}, name.Sel.Name), "%s calls Skip directly; use package `need` to skip tests", path)
			return true
		})
		return err
	}))
	require.Greater(t, files, 500)
}

// isShort reports whether condition is testing.Short().
func isShort(condition ast.Expr) bool {
	call, ok := condition.(*ast.CallExpr)
	if !ok {
		return false
	}
	name, ok := call.Fun.(*ast.SelectorExpr)
	return ok && name.Sel.Name == "Short"
}
