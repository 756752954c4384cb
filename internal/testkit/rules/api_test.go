package rules

import (
	"bytes"
	"flag"
	"go/ast"
	"go/build"
	"go/format"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "rewrite the files in api/")

// public contains the packages that other modules can import.
var public = []string{
	"lw", "lw/codec", "lw/discovery", "lwtest", "cache", "cache/catalog", "cache/compact", "cache/savefile", "cache/workqueue",
	"transport/http", "transport/ws", "transport/fallback", "transport/kubeconfig",
	"adapters/clientgo", "adapters/controllerruntime",
}

func TestPublicAPIMatchesAPIFolder(t *testing.T) {
	for _, pkg := range public {
		found := strings.Join(apiOf(t, pkg), "\n") + "\n"
		file := filepath.Join(root, "api", strings.ReplaceAll(pkg, "/", "-")+".txt")
		if *update {
			require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
			require.NoError(t, os.WriteFile(file, []byte(found), 0o644))
		}
		want, err := os.ReadFile(file)
		require.NoError(t, err, "run make api to create the file")
		require.Equal(t, string(want), found, "the API of %s differs from %s; if you intended the change, run make api", pkg, file)
	}
	files, err := filepath.Glob(filepath.Join(root, "api", "*"))
	require.NoError(t, err)
	require.Len(t, files, len(public))
}

// apiOf returns a package's exported API on linux/amd64, with one line per function, method, type, field, constant
// and variable.
func apiOf(t *testing.T, pkg string) (lines []string) {
	native := build.Default
	native.GOOS, native.GOARCH = "linux", "amd64"
	folder, err := native.ImportDir(filepath.Join(root, pkg), 0) // unlike go list, works without an adapter's modules
	require.NoError(t, err)
	for _, name := range folder.GoFiles {
		tree, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, pkg, name), nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		for _, decl := range tree.Decls {
			switch decl := decl.(type) {
			case *ast.FuncDecl:
				if decl.Name.IsExported() && (decl.Recv == nil || exportedReceiver(decl.Recv.List[0].Type)) {
					lines = append(lines, source(t, &ast.FuncDecl{Recv: decl.Recv, Name: decl.Name, Type: decl.Type}))
				}
			case *ast.GenDecl:
				lines = append(lines, namesOf(t, decl)...)
			}
		}
	}
	slices.Sort(lines)
	return lines
}

func exportedReceiver(of ast.Expr) bool {
	switch of := of.(type) {
	case *ast.StarExpr:
		return exportedReceiver(of.X)
	case *ast.IndexExpr:
		return exportedReceiver(of.X)
	case *ast.IndexListExpr:
		return exportedReceiver(of.X)
	case *ast.Ident:
		return of.IsExported()
	}
	return false
}

// namesOf returns the exported API in a declaration of types, constants or variables.
func namesOf(t *testing.T, decl *ast.GenDecl) (lines []string) {
	var kind ast.Expr // a constant without a type and value repeats the type of the previous constant
	for _, spec := range decl.Specs {
		switch spec := spec.(type) {
		case *ast.ValueSpec:
			if spec.Type != nil || len(spec.Values) > 0 {
				kind = spec.Type
			}
			for i, name := range spec.Names {
				line := strings.TrimSpace(decl.Tok.String() + " " + name.Name + " " + source(t, kind))
				if decl.Tok == token.CONST && kind == nil && i < len(spec.Values) {
					line += " = " + source(t, spec.Values[i])
				}
				if name.IsExported() {
					lines = append(lines, line)
				}
			}
		case *ast.TypeSpec:
			if spec.Name.IsExported() {
				lines = append(lines, typeOf(t, spec)...)
			}
		}
	}
	return lines
}

// typeOf returns a line for the type and a line for each exported field or method.
func typeOf(t *testing.T, spec *ast.TypeSpec) []string {
	head := *spec
	head.Doc, head.Comment = nil, nil
	var parts *ast.FieldList
	switch of := spec.Type.(type) {
	case *ast.StructType:
		head.Type, parts = &ast.StructType{Fields: &ast.FieldList{}}, of.Fields
	case *ast.InterfaceType:
		head.Type, parts = &ast.InterfaceType{Methods: &ast.FieldList{}}, of.Methods
	}
	lines := []string{"type " + strings.TrimSuffix(source(t, &head), " { }")}
	if parts == nil {
		return lines
	}
	for _, part := range parts.List {
		if len(part.Names) == 0 { // embedded field
			lines = append(lines, lines[0]+", "+source(t, part.Type))
		}
		for _, name := range part.Names {
			if name.IsExported() {
				lines = append(lines, lines[0]+", "+name.Name+" "+source(t, part.Type))
			}
		}
	}
	return lines
}

// source returns the source code of a node on one line.
func source(t *testing.T, node any) string {
	if node == nil || node == ast.Expr(nil) {
		return ""
	}
	var text bytes.Buffer
	require.NoError(t, format.Node(&text, token.NewFileSet(), node))
	return strings.Join(strings.Fields(text.String()), " ")
}
