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

// Module is what blocks of Go are compiled against. Those whose fence says "go" alone are of the main module; "go e2e/clients"
// is of that one.
type Module struct {
	Folder string            // from the repository's root; "" for the main module
	Names  map[string]string // packages that fragments name without importing them, by that name
	Given  map[string]string // types of variables that fragments use without declaring them, by their names
}

// Compiler checks blocks of Go.
type Compiler struct {
	module  Module
	exports map[string]string // the files with the compiler's export data, by import path
}

// NewCompiler compiles what the blocks of a module import, or, without any, all packages that the module names, as far as the
// go command has not done so before.
func NewCompiler(root string, module Module, blocks []Block) (*Compiler, error) {
	c := &Compiler{module: module, exports: map[string]string{}}
	needed := map[string]bool{"context": true}
	for _, path := range module.Names {
		needed[path] = blocks == nil
	}
	for _, b := range blocks {
		source, _, err := c.source(b)
		if err != nil {
			continue // Check tells
		}
		if file, err := parser.ParseFile(token.NewFileSet(), "", source, parser.ImportsOnly); err == nil {
			for _, spec := range file.Imports {
				needed[importPath(spec)] = true
			}
		}
	}
	maps.DeleteFunc(needed, func(_ string, is bool) bool { return !is })
	// What does not exist is told by Check, too.
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

// Check compiles a block, as far as to find what is wrong with it. A text that begins with "package" is a program, or a file
// of one, and is compiled as it stands. Anything else is a fragment: its imports may be missing, its variables unused, and
// names undeclared that the module knows; where "…" stands on a line of its own or between braces, it leaves something out.
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
	_, _ = config.Check("fragment", fset, []*ast.File{file}, nil) // its error is the first of those
	return errors.Join(wrong...)
}

func (c *Compiler) open(path string) (io.ReadCloser, error) {
	file := c.exports[path]
	if file == "" {
		return nil, fmt.Errorf("package %s is not in the module", path)
	}
	return os.Open(file)
}

// whole is a fragment as a file, for its imports.
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

// source makes a file of a block.
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
	if _, err := parser.ParseFile(token.NewFileSet(), "", whole(body), 0); err != nil { // not only declarations
		body = "func _() {\n" + position + rest + "}\n"
	}
	file, err := parser.ParseFile(token.NewFileSet(), "", whole(imports+"\n"+body), 0)
	if err != nil {
		return "", true, err
	}
	more, given := c.missing(file)
	return whole(imports + "\n" + more + given + body), true, nil
}

// missing are the imports and the variables that a fragment uses without declaring them.
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
	path, _ := strconv.Unquote(spec.Path.Value) // the parser has seen to it
	return path
}

// CompileAll checks all blocks of a module.
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
