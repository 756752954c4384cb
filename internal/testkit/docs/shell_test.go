//go:build unix

package docs

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// resultTimeout is how long a command may take to print the expected output.
const resultTimeout = time.Minute

// shell is a bash process that runs a document's commands in order.
type shell struct {
	*testing.T
	in         io.WriteCloser
	pid        string // path of the file with the process ID of the latest lwcat process
	background bool   // whether a background process is running, which may print at any time

	mu     sync.Mutex
	out    []byte // output that has not been compared yet
	status int    // exit status of the latest command
	ended  int    // number of commands that have exited
}

// loop is a script that reads commands, each terminated by a NUL character. It prints each exit status between two NUL
// characters.
const loop = `status=0
while IFS= read -r -d '' command <&3; do
	(exit $status) # sets $? for the command
	eval "$command" </dev/null
	status=$?
	printf '\0%d\0' $status
done`

func newShell(t *testing.T, folder string, env ...string) *shell {
	s := &shell{T: t, pid: filepath.Join(folder, ".pid")}
	commands, in, err := os.Pipe()
	require.NoError(t, err)
	s.in = in
	cmd := exec.Command("bash", "-c", loop)
	cmd.Dir, cmd.Env, cmd.ExtraFiles = folder, append(os.Environ(), env...), []*os.File{commands}
	cmd.Stdout = s
	cmd.Stderr = s
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // lets the cleanup kill all child processes
	require.NoError(t, cmd.Start())
	require.NoError(t, commands.Close())
	t.Cleanup(func() {
		_ = in.Close()
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // kills background processes
		_ = cmd.Wait()
	})
	return s
}

// Write receives the output of the commands and removes the exit statuses from it.
func (s *shell) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.out = append(s.out, p...)
	for {
		before, rest, found := bytes.Cut(s.out, []byte{0})
		status, after, whole := bytes.Cut(rest, []byte{0})
		if !found || !whole {
			return len(p), nil
		}
		n, err := strconv.Atoi(string(status))
		if err != nil {
			return 0, fmt.Errorf("%q is not an exit status", status)
		}
		s.status = n
		s.ended++
		s.out = append(bytes.Clone(before), after...)
	}
}

// printed returns the output that has not been compared yet, whether the command has exited, and the command's exit
// status. The argument `before` is the result of begin.
func (s *shell) printed(before int) (text string, done bool, status int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	text, _, _ = strings.Cut(string(s.out), "\x00")
	return text, s.ended > before, s.status
}

// drop removes the first n bytes of output after they have been compared.
func (s *shell) drop(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.out = s.out[n:]
}

// begin starts a command. It returns the number of commands that have exited so far. When that number grows, the method
// `printed` knows that this command has exited.
func (s *shell) begin(text string) (before int) {
	_ = os.Remove(s.pid)
	s.mu.Lock()
	before = s.ended
	s.mu.Unlock()
	_, err := io.WriteString(s.in, text+"\x00")
	require.NoError(s, err)
	return before
}

// interrupt sends SIGINT to lwcat and reports whether lwcat was running.
func (s *shell) interrupt() bool {
	text, err := os.ReadFile(s.pid)
	pid, malformed := strconv.Atoi(strings.TrimSpace(string(text)))
	return err == nil && malformed == nil && syscall.Kill(pid, syscall.SIGINT) == nil
}

// run runs a command and waits until it has exited and printed the output in the document. If the command does not exit
// by itself, run interrupts it once the output above "^C" has appeared. Without such output, run interrupts the command
// when watches returns true.
func (s *shell) run(c command, watches func() bool) error {
	s.Log(c.at, c.text)
	s.background = s.background || strings.HasSuffix(c.text, "&")
	above, all := c.pattern(c.above), c.pattern(c.above+c.below)
	before, interrupted := s.begin(c.text), false
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(resultTimeout); ; <-tick.C {
		text, done, status := s.printed(before)
		switch {
		case done && all.MatchString(text):
			s.drop(len(text))
			if status == 0 || c.statusAsked || interrupted && status == 130 {
				return nil
			}
			return fmt.Errorf("%s: %s: exit status %d: %s", c.at, c.text, status, last(text))
		case done && !s.background, time.Now().After(deadline):
			return fmt.Errorf("%s: %s\nprinted\n%s\nbut the document shows\n%s", c.at, c.text, last(text), c.above+c.below)
		case !done && !interrupted && c.goesOn() && above.MatchString(text) && (c.above != "" || watches()):
			interrupted = s.interrupt()
		}
	}
}

// last returns at most the last 2,000 bytes of text.
func last(text string) string { return text[max(0, len(text)-2000):] }
