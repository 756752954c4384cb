package docs

import (
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"maps"
	"os"
	"os/exec"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Module describes how to compile the Go blocks that belong to a module. A block marked "go" belongs to the main
// module. A block marked "go e2e/clients" belongs to the module in that folder.
type Module struct {
	Folder string            // relative to the repository's root; "" for the main module
	Names  map[string]string // import paths of packages that fragments may use without an import, by package name
	Given  map[string]string // types of variables that fragments may use without a declaration, by variable name
}

// Compiler type-checks Go blocks.
type Compiler struct {
	module   Module
	exports  map[string]string // paths of export data files, by import path
	fset     *token.FileSet
	importer types.Importer
}

// NewCompiler returns a compiler for the given blocks. root is the repository's root.
func NewCompiler(root string, module Module, blocks []Block) (*Compiler, error) {
	paths := slices.Collect(maps.Values(module.Names))
	for _, b := range blocks {
		for _, match := range importPath.FindAllStringSubmatch(b.Text, -1) {
			paths = append(paths, match[1])
		}
	}
	// With -e, go list does not fail if a package is missing. Check reports such packages.
	cmd := exec.Command("go", append([]string{"list", "-e", "-export", "-deps", "-f", "{{.ImportPath}}\t{{.Export}}"}, paths...)...)
	cmd.Dir, cmd.Stderr = root+"/"+module.Folder, os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	exports := map[string]string{}
	for line := range strings.Lines(string(out)) {
		path, file, _ := strings.Cut(strings.TrimSpace(line), "\t")
		exports[path] = file
	}
	fset := token.NewFileSet()
	return &Compiler{module, exports, fset, importer.ForCompiler(fset, "gc", func(path string) (io.ReadCloser, error) {
		if exports[path] == "" {
			return nil, fmt.Errorf("package %s is not in the module", path)
		}
		return os.Open(exports[path])
	})}, nil
}

// Check type-checks a block. A block that starts with "package" must be a complete file. Other blocks are fragments,
// which may have unused variables and may use the names in Module.Names and Module.Given. In a fragment, "…" on a line
// or between braces stands for omitted code.
func (c *Compiler) Check(b Block) error {
	source, fragment, err := c.source(b)
	if err != nil {
		return err
	}
	file, err := parser.ParseFile(c.fset, "", source, 0)
	if err != nil {
		return err
	}
	var wrong []error
	config := types.Config{
		Importer: c.importer,
		Error: func(err error) {
			// Soft errors are, for example, unused variables and imports.
			if typed, ok := errors.AsType[types.Error](err); !ok || !typed.Soft || !fragment {
				wrong = append(wrong, err)
			}
		},
	}
	_, _ = config.Check("fragment", c.fset, []*ast.File{file}, nil) // config.Error has already collected the error
	return errors.Join(wrong...)
}

var (
	importPath  = regexp.MustCompile(`(?m)^(?:import)?\s*(?:\w+ )?"([\w./-]+)"$`) // may match other strings; go list -e ignores them
	importDecls = regexp.MustCompile(`^(?:import (?:\([^)]*\)|.*)\n\s*)*`)
	leftOutLine = regexp.MustCompile(`(?m)^\s*…$`)
	leftOutBody = regexp.MustCompile(`\{ … \}`)
)

// source returns the block as a complete Go file, and whether the block is a fragment.
func (c *Compiler) source(b Block) (source string, fragment bool, err error) {
	if strings.HasPrefix(b.Text, "package ") {
		return b.Text, false, nil
	}
	text := leftOutBody.ReplaceAllString(leftOutLine.ReplaceAllString(b.Text, ""), "{}")
	imports := importDecls.FindString(text)
	head := "package fragment\n" + imports
	// The line directive makes errors name the line in the document.
	position := fmt.Sprintf("//line %s:%d\n", b.File, b.Line+strings.Count(imports, "\n"))
	body := position + text[len(imports):]
	file, err := parser.ParseFile(token.NewFileSet(), "", head+body, 0)
	if err != nil { // statements need a function
		body = "func _() {\n" + body + "}\n"
		file, err = parser.ParseFile(token.NewFileSet(), "", head+body, 0)
	}
	if err != nil {
		return "", true, err
	}
	return head + c.implied(file) + body, true, nil
}

// implied returns import and variable declarations that a fragment may leave out. It imports all packages in
// Module.Names that the module can compile, because Check ignores unused imports.
func (c *Compiler) implied(file *ast.File) string {
	imported, declarations := map[string]bool{}, map[string]bool{}
	for _, spec := range file.Imports {
		imported[path.Base(strings.Trim(spec.Path.Value, `"`))] = true
		if spec.Name != nil {
			imported[spec.Name.Name] = true
		}
	}
	for name, path := range c.module.Names {
		if !imported[name] && c.exports[path] != "" {
			declarations["import "+name+" "+strconv.Quote(path)] = true
		}
	}
	for _, identifier := range file.Unresolved {
		if of := c.module.Given[identifier.Name]; of != "" {
			declarations["var "+identifier.Name+" "+of] = true
		}
	}
	return strings.Join(slices.Sorted(maps.Keys(declarations)), "\n") + "\n" // imports sort before variables
}

// CompileAll type-checks all Go blocks of a module. root is the repository's root.
func CompileAll(root string, module Module) error {
	all, err := Read(root)
	if err != nil {
		return err
	}
	blocks := slices.DeleteFunc(all, func(b Block) bool { return b.Language != "go" || b.Info != module.Folder })
	compiler, err := NewCompiler(root, module, blocks)
	if err != nil {
		return err
	}
	var wrong []error
	for _, b := range blocks {
		if err := compiler.Check(b); err != nil {
			wrong = append(wrong, fmt.Errorf("%w in\n%s", err, b.Text))
		}
	}
	return errors.Join(wrong...)
}
