package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
)

// switches is the package that stands behind every mutant.
const switches = "github.com/seed-6d2a410a/listwatch/internal/mutants/switches"

// pkg is what go list says of a package.
type pkg struct {
	ImportPath, Dir, Export string
	GoFiles                 []string
	DepOnly                 bool
}

// load asks for a package and for what it imports, compiled.
func load(name string) (found pkg, exports map[string]string, err error) {
	list := exec.Command("go", "list", "-export", "-deps", "-json=ImportPath,Dir,Export,GoFiles,DepOnly", name)
	var said bytes.Buffer
	list.Stderr = &said
	text, err := list.Output()
	if err != nil {
		return found, nil, fmt.Errorf("asking for the package %s: %w\n%s", name, err, &said)
	}
	exports = map[string]string{}
	for decoder := json.NewDecoder(bytes.NewReader(text)); ; {
		var p pkg
		if err := decoder.Decode(&p); err == io.EOF {
			return found, exports, nil
		} else if err != nil {
			return found, nil, err
		}
		exports[p.ImportPath] = p.Export
		if !p.DepOnly {
			found = p
		}
	}
}

// mutated makes all mutants of a package, and writes it with them into a folder, with an overlay that puts it in its place.
func mutated(name, folder string) (pkg, *mutator, error) {
	p, exports, err := load(name)
	if err != nil {
		return p, nil, err
	}
	info := &types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Uses: map[*ast.Ident]types.Object{}}
	m := &mutator{files: token.NewFileSet(), info: info}
	sources, trees, err := m.parse(p)
	if err != nil {
		return p, nil, err
	}
	lookup := func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) }
	config := types.Config{Importer: importer.ForCompiler(m.files, "gc", lookup)}
	if m.pkg, err = config.Check(p.ImportPath, m.files, trees, m.info); err != nil {
		return p, nil, err
	}
	overlay := struct{ Replace map[string]string }{map[string]string{}}
	for i, tree := range trees {
		m.mutate(sources[i], tree)
		written := filepath.Join(folder, p.GoFiles[i])
		overlay.Replace[filepath.Join(p.Dir, p.GoFiles[i])] = written
		if err := os.WriteFile(written, sources[i].written(), 0o666); err != nil {
			return p, nil, err
		}
	}
	text, err := json.Marshal(overlay)
	if err != nil {
		return p, nil, err
	}
	return p, m, os.WriteFile(filepath.Join(folder, "overlay.json"), text, 0o666)
}

// parse reads the package's files, which mutants name as they are seen from here.
func (m *mutator) parse(p pkg) (sources []*source, trees []*ast.File, err error) {
	here, err := os.Getwd()
	if err != nil {
		return nil, nil, err
	}
	for _, name := range p.GoFiles {
		path := filepath.Join(p.Dir, name)
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, nil, err
		}
		tree, err := parser.ParseFile(m.files, path, text, parser.SkipObjectResolution)
		if err != nil {
			return nil, nil, err
		}
		seen, err := filepath.Rel(here, path)
		if err != nil {
			return nil, nil, err
		}
		sources, trees = append(sources, newSource(filepath.ToSlash(seen), text)), append(trees, tree)
	}
	return sources, trees, nil
}
