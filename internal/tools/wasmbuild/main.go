// Command wasmbuild generates the files of the npm package in wasm/ that are not in the repository. These are the WASM
// module listwatch.wasm, the script go.js, and the licences. With two arguments, a folder and a file, wasmbuild only
// compiles the main package in the folder to the file. wasmbuild requires only Go. The script go.js is Go's
// wasm_exec.js as a JavaScript module without global variables. It omits functions that listwatch.wasm does not import.
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

// coldly contains packages that are compiled without inlining to save space. Inlining in the runtime would increase the
// size by 7 %. It would reduce the CPU time of a stream by 4 to 12 % and of a restore by 17 %. Inlining in the other
// packages would add 8 kB without a noticeable gain.
var coldly = []string{
	"runtime", "time", "context", "syscall", "syscall/js", "internal/godebug", "internal/bisect", "internal/strconv", "sync",
	"internal/sync", "internal/runtime/maps", "github.com/seed-6d2a410a/listwatch/internal/redact",
}

// compile builds the main package in folder and writes the WASM module to the file program.
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

// replace writes a file atomically, so that concurrent readers see either the old or the new content.
func replace(path string, content []byte) error {
	if err := os.WriteFile(path+".new", content, 0o666); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}

// wasm_exec.js adds missing APIs to globalThis and defines Go there. These strings surround that script to give it a
// local globalThis with the APIs that the WASM module needs.
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

// functions matches functions of wasm_exec.js that a WASM module may not need, and captures their names.
var functions = regexp.MustCompile(`(?ms)^\t{5}"([^"]+)": \(\w+\) => \{\n.*?^\t{5}\},\n|^\t{4}(_gotest): \{\n.*?^\t{4}\},\n|^\t{3}(\w+)\([^)]*\) \{ (?:callback\(enosys\(\)\)|throw enosys\(\)|return -1); \},\n|^\t{2}(_makeFuncWrapper)\(.*?^\t{2}\}\n`)

// checks matches checks in wasm_exec.js that always succeed. Supported browsers have the required APIs, programs have
// no arguments, and glue.js does not resume a program that has exited.
var checks = regexp.MustCompile(`(?m)^\t+if \(.*\) \{\n\t+throw new Error\(.*\);\n\t+\}\n`)

// asModule returns wasm_exec.js as a JavaScript module. It omits the checks, and the functions whose names the WASM
// module does not contain.
func asModule(script, program []byte) []byte {
	script = bytes.Replace(script, []byte(`"use strict";`), nil, 1) // JavaScript modules are always strict
	script = checks.ReplaceAll(script, nil)
	script = functions.ReplaceAllFunc(script, func(function []byte) []byte {
		if bytes.Contains(program, bytes.Join(functions.FindSubmatch(function)[1:], nil)) {
			return function
		}
		return nil
	})
	return append(append([]byte(before), script...), after...)
}
