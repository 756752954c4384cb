package lwcatscript

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// process is a lwcat that was started.
type process struct {
	cmd   *exec.Cmd
	ended chan struct{}
}

// patience is how long anything may take that has to happen.
const patience = time.Minute

// start starts lwcat: NAME ARGUMENT...
func start(ts *testscript.TestScript, _ bool, args []string) {
	name := args[0]
	program := "lwcat"
	for _, folder := range filepath.SplitList(ts.Getenv("PATH")) { // the script's, which is not ours
		if path := filepath.Join(folder, "lwcat"); isFile(path) {
			program = path
			break
		}
	}
	p := &process{cmd: exec.Command(program, args[1:]...), ended: make(chan struct{})}
	p.cmd.Dir = ts.Getenv("WORK")
	for _, variable := range []string{"PATH", "HOME", "SERVER", "TOKEN", "NS", "KUBECONFIG", "NO_COLOR", "GORACE", "TESTSCRIPT_COMMAND"} {
		p.cmd.Env = append(p.cmd.Env, variable+"="+ts.Getenv(variable))
	}
	for to, file := range map[string]*os.File{".out": nil, ".err": nil} {
		var err error
		file, err = os.Create(ts.MkAbs(name + to))
		ts.Check(err)
		defer file.Close()
		if to == ".out" {
			p.cmd.Stdout = file
		} else {
			p.cmd.Stderr = file
		}
	}
	ts.Check(p.cmd.Start())
	go func() {
		_ = p.cmd.Wait() // end asks for its exit code
		close(p.ended)
	}()
	of(ts).started[name] = p
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && !info.IsDir()
}

// kill ends what a script left behind.
func (s *script) kill() {
	for _, p := range s.started {
		_ = p.cmd.Process.Kill() // if it is still there
		<-p.ended
	}
}

// see waits for something in a file: FILE REGEXP [COUNT].
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
	for deadline := time.Now().Add(patience); ; <-tick.C {
		text, err := os.ReadFile(ts.MkAbs(args[0]))
		ts.Check(err)
		if len(pattern.FindAll(text, -1)) >= wanted {
			return
		}
		if time.Now().After(deadline) {
			ts.Fatalf("%s has no %d of %q; it is:\n%s", args[0], wanted, args[1], text)
		}
	}
}

// url sets a variable: NAME FILE.
func url(ts *testscript.TestScript, _ bool, args []string) {
	ts.Setenv(args[0], strings.TrimSpace(ts.ReadFile(args[1])))
}

// end waits for the end of what was started: NAME CODE [interrupt].
func end(ts *testscript.TestScript, _ bool, args []string) {
	p := of(ts).started[args[0]]
	if p == nil {
		ts.Fatalf("nothing was started as %s", args[0])
	}
	code, err := strconv.Atoi(args[1])
	ts.Check(err)
	if len(args) > 2 {
		ts.Check(p.cmd.Process.Signal(os.Interrupt))
	}
	select {
	case <-p.ended:
	case <-time.After(patience):
		ts.Fatalf("%s does not end", args[0])
	}
	if got := p.cmd.ProcessState.ExitCode(); got != code {
		text, _ := os.ReadFile(ts.MkAbs(args[0] + ".err")) // for the message only
		ts.Fatalf("%s ended with %d, not %d: %s", args[0], got, code, strings.TrimSpace(string(text)))
	}
}
