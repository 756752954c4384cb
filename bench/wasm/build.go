package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// The programs, by their names for page/world.mjs.
const (
	asProduct = "program.wasm" // as internal/wasmbuild compiles the package
	asGoBuild = "plain.wasm"   // as go build does, without more
	iterator  = "iterator.wasm"
)

// build makes the programs.
func build() (map[string][]byte, error) {
	folder, err := os.MkdirTemp("", "bench-wasm")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	goBuild := func(program, of string) *exec.Cmd {
		cmd := exec.Command("go", "build", "-o", filepath.Join(folder, program), "./wasm/"+of)
		cmd.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm")
		return cmd
	}
	product := exec.Command("go", "run", "./internal/wasmbuild", "bench/wasm/program", filepath.Join(folder, asProduct))
	product.Dir = ".."
	for _, cmd := range []*exec.Cmd{product, goBuild(asGoBuild, "program"), goBuild(iterator, "iterator")} {
		cmd.Stderr = os.Stderr
		if err := cmd.Run(); err != nil {
			return nil, err
		}
	}
	programs := map[string][]byte{}
	for _, name := range []string{asProduct, asGoBuild, iterator} {
		if programs[name], err = os.ReadFile(filepath.Join(folder, name)); err != nil {
			return nil, err
		}
	}
	return programs, nil
}

// wasmExec is the path of Go's wasm_exec.js.
func wasmExec() (string, error) {
	root, err := exec.Command("go", "env", "GOROOT").Output()
	return filepath.Join(strings.TrimSpace(string(root)), "lib/wasm/wasm_exec.js"), err
}
