// Command wasmbuild generates the files of the npm package in wasm/ that are not in the repository. These are the WASM
// module listwatch.wasm, the script go.js, and the licences. With two arguments, a folder and a file, wasmbuild only
// compiles the main package in the folder to the file. wasmbuild requires only Go. The script go.js is Go's
// wasm_exec.js as a JavaScript module without global variables. It omits functions that listwatch.wasm does not import.
package main

import (
	"bytes"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/seed-6d2a410a/listwatch/internal/tools/wasmpack"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("wasmbuild: ")
	switch len(os.Args) {
	case 2:
		build(os.Args[1])
	case 3:
		replace(os.Args[2], compile(os.Args[1]))
	default:
		log.Fatal("usage: wasmbuild folder [program.wasm]")
	}
}

// must returns value, or exits if err is not nil.
func must[T any](value T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return value
}

// build writes the generated files of the npm package in folder.
func build(folder string) {
	goroot := strings.TrimSpace(string(must(exec.Command("go", "env", "GOROOT").Output())))
	module := compile(folder)
	replace(filepath.Join(folder, "listwatch.wasm"), module)
	replace(filepath.Join(folder, "go.js"), asModule(must(os.ReadFile(filepath.Join(goroot, "lib", "wasm", "wasm_exec.js"))), module))
	replace(filepath.Join(folder, "LICENSE"), must(os.ReadFile(filepath.Join(folder, "..", "LICENSE"))))
	replace(filepath.Join(folder, "LICENSE-GO"), must(os.ReadFile(filepath.Join(goroot, "LICENSE"))))
}

// coldly contains packages that are compiled without inlining to save space. With inlining in the runtime, a stream
// would take 4 to 12 % less CPU time, and a restore 17 % less, but the module would be 7 % larger. Inlining in the
// other packages would add 8 kB without a noticeable gain.
var coldly = []string{
	"runtime", "time", "context", "syscall", "syscall/js", "internal/godebug", "internal/bisect", "internal/strconv", "sync",
	"internal/sync", "internal/runtime/maps", "github.com/seed-6d2a410a/listwatch/internal/redact",
}

// compile returns the WASM module of the main package in folder.
func compile(folder string) []byte {
	program := filepath.Join(must(os.MkdirTemp("", "wasmbuild")), "program.wasm")
	args := []string{"build", "-trimpath", "-ldflags=-s -w -buildid=", "-o", program}
	for _, cold := range coldly {
		args = append(args, "-gcflags="+cold+"=-l")
	}
	run := exec.Command("go", append(args, ".")...)
	run.Dir, run.Env = folder, append(os.Environ(), "GOOS=js", "GOARCH=wasm")
	output, err := run.CombinedOutput()
	module, _ := os.ReadFile(program) // if this fails, err contains the reason
	_ = os.RemoveAll(filepath.Dir(program))
	if err != nil {
		log.Fatalf("%s: %v\n%s", folder, err, output)
	}
	return must(wasmpack.Pack(module))
}

// replace writes a file atomically, so that concurrent readers see either the old or the new content.
func replace(path string, content []byte) {
	err := os.WriteFile(path+".new", content, 0o666)
	if err == nil {
		err = os.Rename(path+".new", path)
	}
	if err != nil {
		log.Fatal(err)
	}
}

// wasm_exec.js adds missing APIs to globalThis and defines Go there. These strings surround that script to give it a
// local globalThis with the APIs that the WASM module needs. The script also uses the global variable fs, so the local
// fs forwards to the local globalThis.
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

// checks matches checks in wasm_exec.js that never fail. Supported browsers have the required APIs, programs have no
// arguments, and glue.js does not resume a program that has exited.
var checks = regexp.MustCompile(`(?m)^\t+if \(.*\) \{\n\t+throw new Error\(.*\);\n\t+\}\n`)

// asModule returns wasm_exec.js as a JavaScript module. It omits the checks, and those functions whose names do not
// occur in the WASM module.
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
