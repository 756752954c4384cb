// Command wasmbuild makes what is not in the repository of the package in wasm/: the program listwatch.wasm, and go.js, which
// is Go's wasm_exec.js as a module that leaves nothing in the page's global scope. It needs nothing but Go.
package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: wasmbuild folder")
		os.Exit(2)
	}
	if err := build(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "wasmbuild:", err)
		os.Exit(1)
	}
}

func build(folder string) error {
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return fmt.Errorf("go env GOROOT: %w", err)
	}
	script, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(root)), "lib", "wasm", "wasm_exec.js"))
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(folder, "go.js"), asModule(script), 0o666); err != nil {
		return err
	}
	compile := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w -buildid=", "-o", "listwatch.wasm", ".")
	compile.Dir, compile.Stdout, compile.Stderr = folder, os.Stdout, os.Stderr
	compile.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm")
	return compile.Run()
}

// The script adds to globalThis what a browser lacks, and defines Go there. It is given a scope of its own in its place, with
// what the program looks for.
const (
	before = `// Made by internal/wasmbuild from wasm_exec.js of Go, which has this licence: https://go.dev/LICENSE
const real = globalThis
export function makeGo() {
  const { Object, Array, Uint8Array, Date, Error, TypeError, crypto, performance, TextEncoder, TextDecoder } = real
  const globalThis = { Object, Array, Uint8Array, Date, Error, TypeError, crypto, performance, TextEncoder, TextDecoder }
  const fs = { writeSync: (...args) => globalThis.fs.writeSync(...args) };
`
	after = `
  return globalThis.Go
}
`
)

func asModule(script []byte) []byte {
	script = bytes.Replace(script, []byte(`"use strict";`), nil, 1) // modules are, and so it stands where it says nothing
	return append(append([]byte(before), script...), after...)
}
