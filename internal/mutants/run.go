package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// outcome is what came of a mutant.
type outcome int

const (
	killed outcome = iota
	timedOut
	lived
	notCovered
	outcomes // how many there are
)

func (o outcome) String() string {
	return [outcomes]string{"killed", "timed out", "lived", "not covered"}[o]
}

// binary is the tests of a package with all its mutants.
type binary struct {
	path, dir, folder string
	tests             []*test
	least             limits // that any mutant is given, beyond what its tests take
}

// test is a test, an example, or the seeds of a fuzz target.
type test struct {
	name    string
	cpu     time.Duration // without a mutant, with the start of a process
	wall    time.Duration // without that
	reached []byte        // '1' for each mutant that it asks for
}

// compile makes the binary, and finds its tests.
func compile(ctx context.Context, p pkg, folder string) (*binary, error) {
	b := &binary{path: filepath.Join(folder, "test.exe"), dir: p.Dir, folder: folder}
	overlay := filepath.Join(folder, "overlay.json")
	build := exec.CommandContext(ctx, "go", "test", "-vet=off", "-c", "-overlay", overlay, "-o", b.path, p.ImportPath)
	if said, err := build.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%s does not compile with its mutants: %w\n%s", p.ImportPath, err, said)
	}
	list := exec.CommandContext(ctx, b.path, "-test.list=^(Test|Example|Fuzz)")
	list.Dir = b.dir
	said, err := list.CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("listing the tests of %s: %w\n%s", p.ImportPath, err, said)
	}
	for name := range strings.FieldsSeq(string(said)) {
		b.tests = append(b.tests, &test{name: name})
	}
	return b, nil
}

// limits are what a run may take. That of processor time finds what runs in circles, however busy the machine is, and the other,
// which is far, what waits for ever.
type limits struct{ cpu, wall time.Duration }

// memory is what a process may take in kB, as some mutants never stop asking for more.
const memory = 4_000_000

// withLimits starts the tests with limits that the shell knows; a child that is left over ends by them, too. Not every system has
// that of memory.
const withLimits = `ulimit -t "$0" && { ulimit -v "$1" 2>/dev/null; shift; exec "$@"; }`

// result is what came of a process.
type result struct {
	came outcome
	said string
	cpu  time.Duration
}

// run runs tests in a process of their own, up to the first that fails.
func (b *binary) run(ctx context.Context, env string, tests []*test, limit limits) (did result, err error) {
	limited, cancel := context.WithTimeout(ctx, limit.wall)
	defer cancel()
	names := make([]string, len(tests))
	for i, test := range tests {
		names[i] = regexp.QuoteMeta(test.name)
	}
	cmd := exec.CommandContext(limited, "sh", "-c", withLimits, seconds(limit.cpu), strconv.Itoa(memory),
		b.path, "-test.failfast", "-test.timeout=0", "-test.v", "-test.run=^("+strings.Join(names, "|")+")$")
	cmd.Dir, cmd.WaitDelay = b.dir, time.Second
	cmd.Env = append(os.Environ(), "TMPDIR="+b.folder, env)
	said := output{failed: cancel}
	cmd.Stdout, cmd.Stderr = &said, &said
	err = cmd.Run()
	if ctx.Err() != nil {
		return did, context.Cause(ctx)
	} else if cmd.ProcessState == nil {
		return did, err
	}
	did = result{killed, said.String(), cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()}
	switch {
	case failure.Match(said.Bytes()):
	case cmd.ProcessState.ExitCode() < 0: // a signal ended it
		did.came = timedOut
	case cmd.ProcessState.Success():
		did.came = lived
	}
	return did, nil
}

var failure = regexp.MustCompile(`(?m)^ *--- FAIL: `)

// output ends a process as soon as a test has failed: behind it examples would be run, and might wait for ever.
type output struct {
	bytes.Buffer
	failed func()
}

func (o *output) Write(text []byte) (int, error) {
	if failure.Match(text) {
		o.failed()
	}
	return o.Buffer.Write(text)
}

func seconds(d time.Duration) string {
	return strconv.Itoa(int((d + time.Second - 1) / time.Second))
}

var took = regexp.MustCompile(`(?m)^--- PASS: \S+ \((.*)\)$`)

// alone runs a test without a mutant, and notes what it takes and which mutants it reaches.
func (b *binary) alone(ctx context.Context, t *test, mutants int) error {
	file := filepath.Join(b.folder, t.name+".reached")
	if err := os.WriteFile(file, make([]byte, mutants), 0o666); err != nil {
		return err
	}
	did, err := b.run(ctx, "MUTANT_REACHED="+file, []*test{t}, limits{time.Hour, time.Hour})
	if err != nil {
		return err
	}
	if did.came != lived {
		return fmt.Errorf("%s fails without any mutant, so that nothing can be told of mutants:\n%s", t.name, did.said)
	}
	t.cpu = did.cpu
	if match := took.FindStringSubmatch(did.said); match != nil {
		t.wall, _ = time.ParseDuration(match[1])
	}
	t.reached, err = os.ReadFile(file)
	return err
}

// quick is what a test takes at most that is run before the others.
const quick = 100 * time.Millisecond

// try finds what comes of a mutant: by the tests that reach it, those that take long only if the others have not noticed.
func (b *binary) try(ctx context.Context, mutant int) (outcome, error) {
	did := result{came: notCovered}
	for _, first := range []bool{true, false} {
		var tests []*test
		limit := b.least
		for _, t := range b.tests {
			if t.reached[mutant-1] != 0 && first == (t.wall <= quick) {
				tests = append(tests, t)
				limit.cpu += 2 * t.cpu
				limit.wall += 30 * t.wall
			}
		}
		if len(tests) == 0 {
			continue
		}
		var err error
		if did, err = b.run(ctx, "MUTANT="+strconv.Itoa(mutant), tests, limit); err != nil || did.came != lived {
			return did.came, err
		}
	}
	return did.came, nil
}
