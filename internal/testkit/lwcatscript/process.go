package lwcatscript

import (
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

type process struct {
	cmd   *exec.Cmd
	ended chan struct{}
}

// resultTimeout limits how long a script waits for an expected result.
const resultTimeout = time.Minute

// start implements the command "start NAME ARGUMENT...".
func start(ts *testscript.TestScript, _ bool, args []string) {
	name := args[0]
	// The program env finds lwcat in the script's PATH, which differs from the test's PATH.
	p := &process{cmd: exec.Command("env", append([]string{"lwcat"}, args[1:]...)...), ended: make(chan struct{})}
	p.cmd.Dir = ts.Getenv("WORK")
	for _, variable := range []string{"PATH", "HOME", "SERVER", "TOKEN", "NS", "KUBECONFIG", "NO_COLOR", "GORACE", "TESTSCRIPT_COMMAND"} {
		p.cmd.Env = append(p.cmd.Env, variable+"="+ts.Getenv(variable))
	}
	stdout, err := os.Create(ts.MkAbs(name + ".out"))
	ts.Check(err)
	defer stdout.Close()
	stderr, err := os.Create(ts.MkAbs(name + ".err"))
	ts.Check(err)
	defer stderr.Close()
	p.cmd.Stdout, p.cmd.Stderr = stdout, stderr
	ts.Check(p.cmd.Start())
	go func() {
		_ = p.cmd.Wait() // the command "end" checks the exit code
		close(p.ended)
	}()
	ts.Defer(func() {
		_ = p.cmd.Process.Kill() // fails if the process has already exited
		<-p.ended
	})
	of(ts).started[name] = p
}

// see implements the command "see FILE REGEXP [COUNT]".
func see(ts *testscript.TestScript, _ bool, args []string) {
	wanted := 1
	if len(args) > 2 {
		var err error
		wanted, err = strconv.Atoi(args[2])
		ts.Check(err)
	}
	pattern, err := regexp.Compile("(?m)" + args[1])
	ts.Check(err)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(resultTimeout); ; <-tick.C {
		text, err := os.ReadFile(ts.MkAbs(args[0]))
		ts.Check(err)
		if len(pattern.FindAll(text, -1)) >= wanted {
			return
		}
		if time.Now().After(deadline) {
			ts.Fatalf("%s has fewer than %d matches for %q; its content is:\n%s", args[0], wanted, args[1], text)
		}
	}
}

// end implements the command "end NAME CODE [interrupt]".
func end(ts *testscript.TestScript, _ bool, args []string) {
	p := of(ts).started[args[0]]
	if p == nil {
		ts.Fatalf("no process named %s was started", args[0])
	}
	code, err := strconv.Atoi(args[1])
	ts.Check(err)
	if len(args) > 2 {
		ts.Check(p.cmd.Process.Signal(os.Interrupt))
	}
	select {
	case <-p.ended:
	case <-time.After(resultTimeout):
		ts.Fatalf("process %s did not exit", args[0])
	}
	if got := p.cmd.ProcessState.ExitCode(); got != code {
		text, _ := os.ReadFile(ts.MkAbs(args[0] + ".err")) // only for the error message
		ts.Fatalf("process %s exited with code %d, expected %d: %s", args[0], got, code, strings.TrimSpace(string(text)))
	}
}
