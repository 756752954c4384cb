// Command wasmbuild makes what is not in the repository of the package in wasm/: the program listwatch.wasm, go.js, which is
// Go's wasm_exec.js as a module that leaves nothing in the page's global scope and has what the program imports, and the
// licences of both. Given a file as well, it makes that of the program in the folder, and nothing else. It needs nothing but Go.
package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/seed-6d2a410a/listwatch/internal/tools/wasmpack"
)

func main() {
	var err error
	switch len(os.Args) {
	case 2:
		err = build(os.Args[1])
	case 3:
		err = compile(os.Args[1], os.Args[2])
	default:
		fmt.Fprintln(os.Stderr, "usage: wasmbuild folder [program.wasm]")
		os.Exit(2)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "wasmbuild:", err)
		os.Exit(1)
	}
}

func build(folder string) error {
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return fmt.Errorf("go env GOROOT: %w", err)
	}
	goroot := strings.TrimSpace(string(root))
	for from, to := range map[string]string{filepath.Join(folder, "..", "LICENSE"): "LICENSE", filepath.Join(goroot, "LICENSE"): "LICENSE-GO"} {
		licence, err := os.ReadFile(from)
		if err != nil {
			return err
		}
		if err := replace(filepath.Join(folder, to), licence); err != nil {
			return err
		}
	}
	if err := compile(folder, filepath.Join(folder, "listwatch.wasm")); err != nil {
		return err
	}
	program, err := os.ReadFile(filepath.Join(folder, "listwatch.wasm"))
	if err != nil {
		return err
	}
	script, err := os.ReadFile(filepath.Join(goroot, "lib", "wasm", "wasm_exec.js"))
	if err != nil {
		return err
	}
	return replace(filepath.Join(folder, "go.js"), asModule(script, program))
}

// coldly are packages of Go's that are compiled without inlining. In the runtime it would cost 7 % of the bytes, and gain 4 to
// 12 % of the time of a stream, and 17 % of that of a restored state, which collects garbage above all. In the others it would
// cost 8 kB and gain next to nothing: they are seldom called, or take a lock, of which there are a few for an event. Maps are
// 6 % of a restored state. The package redact of ours runs after errors only.
var coldly = []string{
	"runtime", "time", "context", "syscall", "syscall/js", "internal/godebug", "internal/bisect", "internal/strconv", "sync",
	"internal/sync", "internal/runtime/maps", "github.com/seed-6d2a410a/listwatch/internal/redact",
}

// compile makes the program in a folder.
func compile(folder, program string) error {
	program, err := filepath.Abs(program)
	if err != nil {
		return err
	}
	unpacked := program + ".unpacked"
	defer os.Remove(unpacked)
	args := []string{"build", "-trimpath", "-ldflags=-s -w -buildid=", "-o", unpacked}
	for _, cold := range coldly {
		args = append(args, "-gcflags="+cold+"=-l")
	}
	run := exec.Command("go", append(args, ".")...)
	run.Dir, run.Stdout, run.Stderr = folder, os.Stdout, os.Stderr
	run.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm")
	if err := run.Run(); err != nil {
		return err
	}
	module, err := os.ReadFile(unpacked)
	if err != nil {
		return err
	}
	packed, err := wasmpack.Pack(module)
	if err != nil {
		return fmt.Errorf("%s: %w", folder, err)
	}
	return replace(program, packed)
}

// replace writes a file. A process that reads the file at the same time sees all of its old or all of its new content.
func replace(path string, content []byte) error {
	if err := os.WriteFile(path+".new", content, 0o666); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}

// The script adds to globalThis what a browser lacks, and defines Go there. It is given a scope of its own in its place, with
// what the program looks for.
const (
	before = `// Made by internal/tools/wasmbuild from wasm_exec.js of Go; LICENSE-GO is its licence
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

// functions matches the functions that the script offers to programs, by name: imports, the group of Go's own tests,
// functions of the fake file system and process that only fail, and the function that wraps Go functions for JavaScript.
var functions = regexp.MustCompile(`(?ms)^\t{5}"([^"]+)": \(\w+\) => \{\n.*?^\t{5}\},\n|^\t{4}(_gotest): \{\n.*?^\t{4}\},\n|^\t{3}(\w+)\([^)]*\) \{ (?:callback\(enosys\(\)\)|throw enosys\(\)|return -1); \},\n|^\t{2}(_makeFuncWrapper)\(.*?^\t{2}\}\n`)

// checks matches checks that cannot fail: supported browsers have the APIs, there are no arguments, and glue.js does not resume a
// program that has exited.
var checks = regexp.MustCompile(`(?m)^\t+if \(.*\) \{\n\t+throw new Error\(.*\);\n\t+\}\n`)

// asModule makes the script a module, without the checks and without the functions that the program does not name.
func asModule(script, program []byte) []byte {
	script = bytes.Replace(script, []byte(`"use strict";`), nil, 1) // modules are strict
	script = checks.ReplaceAll(script, nil)
	script = functions.ReplaceAllFunc(script, func(function []byte) []byte {
		if bytes.Contains(program, bytes.Join(functions.FindSubmatch(function)[1:], nil)) {
			return function
		}
		return nil
	})
	return append(append([]byte(before), script...), after...)
}
