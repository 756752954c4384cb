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
	"slices"
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

// These strings surround wasm_exec.js. They give it a local globalThis, because the script adds members to globalThis, which
// could disturb the application. The local one contains the values that Go's packages look up.
const (
	before = `// Made by internal/tools/wasmbuild from wasm_exec.js of Go; LICENSE-GO is its licence
export function makeGo() {
  const globalThis = { Object, Array, Uint8Array, Date };
`
	after = `
  return globalThis.Go
}
`
)

// parts lists what asModule can omit from wasm_exec.js. It keeps a part if the module contains the name of one of the part's
// users, because a module contains the names of all its functions. If the pattern captures a name, that name is also a user.
var parts = []struct {
	pattern *regexp.Regexp
	users   []string
}{
	// the functions that a module may import or look up
	{pattern: regexp.MustCompile(`(?ms)^\t{5}"([^"]+/[^"]+|runtime[^"]+)": \(\w+\) => \{\n.*?^\t{5}\},\n`)},
	{pattern: regexp.MustCompile(`(?ms)^\t{2}(_makeFuncWrapper)\(.*?^\t{2}\}\n`)},
	// the tests of Go itself, a function for debugging Go, and a helper that nothing uses
	{pattern: regexp.MustCompile(`(?ms)^\t{4}_gotest: \{\n.*?^\t{4}\},\n|^\t{5}"debug": .*?^\t{5}\},\n|^\t{3}const (?:testCallExport|setInt32) = .*?^\t{3}\}\n`)},
	// the functions for files and paths; writeSync is not among them, because it logs the output of a crash
	{regexp.MustCompile(`(?ms)^\t{3}write\(.*?^\t{3}\},\n|^\t{3}\w+\([^)]*\) \{ (?:callback\(.*?\)|throw enosys\(\)|return -1); \},\n|^\tif \(!globalThis\.path\) \{\n.*?^\t\}\n|^\tconst enosys = .*?^\t\};\n`), []string{"syscall.fsCall"}},
	// the process, whose other members exist only in Node
	{regexp.MustCompile(`(?ms)^\tif \(!globalThis\.process\) \{\n.*?^\t\}\n`), []string{"syscall.Getpid", "syscall.Getppid"}},
	// the default command line and environment, which the module does not read
	{pattern: regexp.MustCompile(`(?m)^\t{3}this\.(?:argv|env) = .*\n`)},
	// checks that never fail, because supported browsers have the required APIs and glue.js does not resume a program that has exited
	{pattern: regexp.MustCompile(`(?m)^\t+if \(.*\) \{\n\t+throw new Error\(.*\);\n\t+\}\n`)},
}

// arguments matches the code that passes the command line and the environment to the program. The module reads neither.
var arguments = regexp.MustCompile(`(?s)\t{3}// Pass command line arguments.*?\.run\(argc, argv\);`)

// asModule returns wasm_exec.js as a JavaScript module without the parts that the WASM module does not use.
func asModule(script, program []byte) []byte {
	script = bytes.Replace(script, []byte(`"use strict";`), nil, 1) // JavaScript modules are always strict
	script = bytes.Replace(script, []byte("\tfs.writeSync"), []byte("\tglobalThis.fs.writeSync"), 1)
	for _, part := range parts {
		script = part.pattern.ReplaceAllFunc(script, func(code []byte) []byte {
			users := part.users
			if captured := part.pattern.FindSubmatch(code)[1:]; len(captured) > 0 {
				users = append(users, string(captured[0]))
			}
			if slices.ContainsFunc(users, func(user string) bool { return bytes.Contains(program, []byte(user)) }) {
				return code
			}
			return nil
		})
	}
	// Both are empty, because argc is 0 and the memory at argv is zero.
	script = arguments.ReplaceAll(script, []byte("\t\t\tthis._inst.exports.run(0, 0);"))
	return append(append([]byte(before), script...), after...)
}
