package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// target is one fuzz target.
type target struct {
	module string // its folder
	pkg    pkg
	name   string // "FuzzValue"
}

// pkg is what go list says of a package.
type pkg struct {
	ImportPath, Dir           string
	TestGoFiles, XTestGoFiles []string
	Module                    struct{ Path string }
}

// String is as "lw/FuzzValue": the package from where the modules' folders begin, and the name.
func (t target) String() string {
	within := strings.TrimPrefix(t.pkg.ImportPath, t.pkg.Module.Path)
	return path.Join(filepath.ToSlash(t.module), within, t.name)
}

var declared = regexp.MustCompile(`(?m)^func (Fuzz\w+)\(\w+ \*testing\.F\)`)

// find returns the targets of a module, in the order of their packages and names.
func find(module string) (all []target, err error) {
	list := exec.Command("go", "list", "-json=ImportPath,Dir,Module,TestGoFiles,XTestGoFiles", "./...")
	list.Dir = module
	list.Stderr = os.Stderr
	text, err := list.Output()
	if err != nil {
		return nil, fmt.Errorf("listing the packages of %s: %w", module, err)
	}
	for decoder := json.NewDecoder(bytes.NewReader(text)); ; {
		var p pkg
		if err := decoder.Decode(&p); err == io.EOF {
			return all, nil
		} else if err != nil {
			return nil, err
		}
		var names []string
		for _, file := range slices.Concat(p.TestGoFiles, p.XTestGoFiles) {
			source, err := os.ReadFile(filepath.Join(p.Dir, file))
			if err != nil {
				return nil, err
			}
			for _, match := range declared.FindAllSubmatch(source, -1) {
				names = append(names, string(match[1]))
			}
		}
		slices.Sort(names)
		for _, name := range names {
			all = append(all, target{module: module, pkg: p, name: name})
		}
	}
}

// outcome is what a run came to.
type outcome struct {
	inputs, added, corpus int
	cpu                   time.Duration
	told                  string // the end of what it printed
}

func (o outcome) String() string {
	return fmt.Sprintf("%d inputs in %v of CPU time, %d of %d in the corpus are new", o.inputs, o.cpu.Round(time.Second), o.added, o.corpus)
}

var told = regexp.MustCompile(`execs: (\d+) .*new interesting: (\d+) \(total: (\d+)\)`)

// play builds the target's package at a path, and runs the target for a while. The corpus is that of go test -fuzz.
func (t target) play(binary string, each time.Duration, workers int) (did outcome, err error) {
	build := exec.Command("go", "test", "-c", "-fuzz=.", "-o", binary, t.pkg.ImportPath)
	build.Dir = t.module
	if said, err := build.CombinedOutput(); err != nil {
		return outcome{told: string(said)}, err
	}
	cache, err := exec.Command("go", "env", "GOCACHE").Output()
	if err != nil {
		return did, err
	}
	args := []string{
		"-test.run=^$", "-test.fuzz=^" + t.name + "$", "-test.fuzztime=" + each.String(), "-test.timeout=0",
		"-test.fuzzminimizetime=1s", // each new input is made smaller for so long, which by default is a minute
		"-test.fuzzcachedir=" + filepath.Join(strings.TrimSpace(string(cache)), "fuzz", t.pkg.ImportPath),
	}
	if workers > 0 {
		args = append(args, "-test.parallel="+strconv.Itoa(workers))
	}
	fuzz := exec.Command(binary, args...)
	fuzz.Dir = t.pkg.Dir
	said, err := fuzz.CombinedOutput()
	did = read(said)
	if fuzz.ProcessState == nil {
		return did, err
	}
	did.cpu = fuzz.ProcessState.UserTime() + fuzz.ProcessState.SystemTime()
	if timeIsOver.Match(said) {
		return did, nil
	}
	if _, exited := errors.AsType[*exec.ExitError](err); exited {
		return did, fmt.Errorf("%s has found something", t)
	}
	return did, err
}

// timeIsOver finds where nothing failed but the end of the time, which go test now and then takes for a failure.
var timeIsOver = regexp.MustCompile(`(?m)^--- FAIL: \w+ \(.*\)\n    context deadline exceeded\nFAIL\n`)

// read takes the figures from what a run printed.
func read(said []byte) (did outcome) {
	all := told.FindAllSubmatch(said, -1)
	if len(all) > 0 {
		for i, figure := range []*int{&did.inputs, &did.added, &did.corpus} {
			*figure, _ = strconv.Atoi(string(all[len(all)-1][i+1]))
		}
	}
	const most = 4000
	did.told = string(said[max(0, len(said)-most):])
	return did
}
