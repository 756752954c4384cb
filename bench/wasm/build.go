package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// The programs, by the names under which page/world.mjs loads them.
const (
	asProduct = "program.wasm" // compiled like the package, by internal/tools/wasmbuild
	asGoBuild = "plain.wasm"   // compiled by go build
)

// build compiles the programs.
func build() (map[string][]byte, error) {
	folder, err := os.MkdirTemp("", "bench-wasm")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	product := exec.Command("go", "run", "./internal/tools/wasmbuild", "bench/wasm/program", filepath.Join(folder, asProduct))
	product.Dir = ".."
	goBuild := exec.Command("go", "build", "-o", filepath.Join(folder, asGoBuild), "./wasm/program")
	goBuild.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm")
	programs := map[string][]byte{}
	for name, cmd := range map[string]*exec.Cmd{asProduct: product, asGoBuild: goBuild} {
		cmd.Stderr = os.Stderr
		if err := cmd.Run(); err != nil {
			return nil, err
		}
		if programs[name], err = os.ReadFile(filepath.Join(folder, name)); err != nil {
			return nil, err
		}
	}
	return programs, nil
}

// wasmExec returns the path of Go's wasm_exec.js.
func wasmExec() (string, error) {
	root, err := exec.Command("go", "env", "GOROOT").Output()
	return filepath.Join(strings.TrimSpace(string(root)), "lib/wasm/wasm_exec.js"), err
}
