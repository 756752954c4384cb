package docs

import (
	"bytes"
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
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Module describes how to compile the Go blocks of a module. A block marked "go" belongs to the main module, and a
// block marked "go e2e/clients" to the module in that folder.
type Module struct {
	Folder string            // relative to the repository's root; "" for the main module
	Names  map[string]string // import paths of packages that fragments may use without an import, by package name
	Given  map[string]string // types of variables that fragments may use without a declaration, by variable name
}

// Compiler type-checks Go blocks.
type Compiler struct {
	module  Module
	exports map[string]string // paths of export data files, by import path
}

// NewCompiler returns a compiler that can check the given blocks. If blocks is nil, the compiler can resolve all
// packages in module.Names. root is the repository's root.
func NewCompiler(root string, module Module, blocks []Block) (*Compiler, error) {
	c := &Compiler{module: module, exports: map[string]string{}}
	needed := map[string]bool{"context": true}
	for _, path := range module.Names {
		needed[path] = blocks == nil
	}
	for _, b := range blocks {
		source, _, err := c.source(b)
		if err != nil {
			continue // Check reports this error
		}
		if file, err := parser.ParseFile(token.NewFileSet(), "", source, parser.ImportsOnly); err == nil {
			for _, spec := range file.Imports {
				needed[importPath(spec)] = true
			}
		}
	}
	maps.DeleteFunc(needed, func(_ string, is bool) bool { return !is })
	// With -e, go list ignores missing packages, which Check reports.
	args := append([]string{"list", "-e", "-export", "-deps", "-f", "{{.ImportPath}}\t{{.Export}}"}, slices.Collect(maps.Keys(needed))...)
	cmd := exec.Command("go", args...)
	cmd.Dir = root + "/" + module.Folder
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%w: %s", err, &stderr)
	}
	for line := range strings.Lines(string(out)) {
		path, file, _ := strings.Cut(strings.TrimSpace(line), "\t")
		c.exports[path] = file
	}
	return c, nil
}

// Check type-checks a block. A block that starts with "package" must be a complete file. Other blocks are fragments,
// which may have unused variables and may use the names in Module.Names and Module.Given. In a fragment, "…" on a line
// or between braces stands for omitted code.
func (c *Compiler) Check(b Block) error {
	source, fragment, err := c.source(b)
	if err != nil {
		return err
	}
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "", source, 0)
	if err != nil {
		return err
	}
	var wrong []error
	config := types.Config{
		Importer: importer.ForCompiler(fset, "gc", c.open),
		Error: func(err error) {
			if typed, ok := errors.AsType[types.Error](err); !ok || !typed.Soft || !fragment {
				wrong = append(wrong, err)
			}
		},
	}
	_, _ = config.Check("fragment", fset, []*ast.File{file}, nil) // config.Error has already collected the error
	return errors.Join(wrong...)
}

func (c *Compiler) open(path string) (io.ReadCloser, error) {
	file := c.exports[path]
	if file == "" {
		return nil, fmt.Errorf("package %s is not in the module", path)
	}
	return os.Open(file)
}

// whole returns text as a Go file. It adds a package clause if there is none.
func whole(text string) string {
	if strings.HasPrefix(text, "package ") {
		return text
	}
	return "package fragment\n" + text
}

var (
	leftOutLine = regexp.MustCompile(`(?m)^\s*…$`)
	leftOutBody = regexp.MustCompile(`\{ … \}`)
)

// source returns the block as a complete Go file, and whether the block is a fragment.
func (c *Compiler) source(b Block) (source string, fragment bool, err error) {
	if strings.HasPrefix(b.Text, "package ") {
		return b.Text, false, nil
	}
	text := leftOutBody.ReplaceAllString(leftOutLine.ReplaceAllString(b.Text, ""), "{}")
	imports, rest := "", text
	if strings.HasPrefix(text, "import") {
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, b.String(), whole(text), parser.ImportsOnly)
		if err != nil {
			return "", true, err
		}
		end := fset.Position(file.Decls[len(file.Decls)-1].End()).Offset - len(whole(""))
		imports, rest = text[:end], text[end:]
	}
	position := fmt.Sprintf("//line %s:%d\n", b.File, b.Line+strings.Count(imports, "\n"))
	body := position + rest
	if _, err := parser.ParseFile(token.NewFileSet(), "", whole(body), 0); err != nil { // the fragment contains statements, which need a function
		body = "func _() {\n" + position + rest + "}\n"
	}
	file, err := parser.ParseFile(token.NewFileSet(), "", whole(imports+"\n"+body), 0)
	if err != nil {
		return "", true, err
	}
	more, given := c.missing(file)
	return whole(imports + "\n" + more + given + body), true, nil
}

// missing returns the import and variable declarations that a fragment needs but does not contain.
func (c *Compiler) missing(file *ast.File) (imports, given string) {
	has, open, done := map[string]bool{}, []string{}, map[string]bool{}
	for _, spec := range file.Imports {
		path := importPath(spec)
		has[path[strings.LastIndex(path, "/")+1:]] = true
		if spec.Name != nil {
			has[spec.Name.Name] = true
		}
	}
	for _, name := range file.Unresolved {
		open = append(open, name.Name)
	}
	for len(open) > 0 {
		name := open[0]
		open = open[1:]
		path, isPackage := c.module.Names[name]
		switch {
		case done[name] || has[name]:
		case isPackage:
			imports += "import " + name + " " + strconv.Quote(path) + "\n"
		case c.module.Given[name] != "":
			given += "var " + name + " " + c.module.Given[name] + "\n"
			open = append(open, qualifiers.FindAllString(c.module.Given[name], -1)...)
		}
		done[name] = true
	}
	return imports, given
}

var qualifiers = regexp.MustCompile(`\b[a-z]\w*`)

func importPath(spec *ast.ImportSpec) string {
	path, _ := strconv.Unquote(spec.Path.Value) // the parser has already validated the import path
	return path
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
