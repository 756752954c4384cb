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

// resultTimeout limits how long a script waits for an expected result.
const resultTimeout = time.Minute

// start implements the command "start NAME ARGUMENT...".
func start(ts *testscript.TestScript, _ bool, args []string) {
	name := args[0]
	// The command `env` finds lwcat in the script's PATH, which differs from the test's PATH.
	cmd := exec.Command("env", append([]string{"lwcat"}, args[1:]...)...)
	cmd.Dir = ts.Getenv("WORK")
	for _, variable := range []string{"PATH", "HOME", "SERVER", "TOKEN", "NS", "KUBECONFIG", "NO_COLOR", "GORACE"} {
		cmd.Env = append(cmd.Env, variable+"="+ts.Getenv(variable))
	}
	stdout, err := os.Create(ts.MkAbs(name + ".out"))
	ts.Check(err)
	defer stdout.Close()
	stderr, err := os.Create(ts.MkAbs(name + ".err"))
	ts.Check(err)
	defer stderr.Close()
	cmd.Stdout, cmd.Stderr = stdout, stderr
	ts.Check(cmd.Start())
	ts.Defer(func() { // both calls fail if the command "end" has already waited for the process
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	of(ts).started[name] = cmd
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
	cmd := of(ts).started[args[0]]
	if cmd == nil {
		ts.Fatalf("no process named %s was started", args[0])
	}
	code, err := strconv.Atoi(args[1])
	ts.Check(err)
	if len(args) > 2 {
		ts.Check(cmd.Process.Signal(os.Interrupt))
	}
	// A process that hangs is killed. Its exit code is then -1, which no script expects.
	defer time.AfterFunc(resultTimeout, func() { _ = cmd.Process.Kill() }).Stop()
	_ = cmd.Wait() // also returns an error for an expected exit code
	if got := cmd.ProcessState.ExitCode(); got != code {
		text, _ := os.ReadFile(ts.MkAbs(args[0] + ".err")) // only for the error message
		ts.Fatalf("process %s exited with code %d, expected %d: %s", args[0], got, code, strings.TrimSpace(string(text)))
	}
}
