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

// patience is how long anything may take that has to happen.
const patience = time.Minute

// shell is a bash that runs the commands of a document, one after the other.
type shell struct {
	*testing.T
	in         io.WriteCloser
	pid        string // a file with the number of the lwcat that was started last
	background bool   // something runs there, and may print at any time

	mu     sync.Mutex
	out    []byte // what has come and was not compared yet
	status int    // of the last command that has ended
	ended  int    // how many have ended
}

// A command comes with a NUL behind it, and its status goes out between two.
const loop = `status=0
while IFS= read -r -d '' command <&3; do
	(exit $status) # for who asks for $?
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
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // so that all that it starts ends with it
	require.NoError(t, cmd.Start())
	require.NoError(t, commands.Close())
	t.Cleanup(func() {
		_ = in.Close()
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // what still runs in the background
		_ = cmd.Wait()
	})
	return s
}

// Write takes what commands print. A status that is cut in two waits for its rest.
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
			return 0, fmt.Errorf("%q is no status", status)
		}
		s.status = n
		s.ended++
		s.out = append(bytes.Clone(before), after...)
	}
}

// printed is what has come since the command began, and whether that has ended.
func (s *shell) printed(before int) (text string, done bool, status int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	text, _, _ = strings.Cut(string(s.out), "\x00")
	return text, s.ended > before, s.status
}

// drop forgets what was compared. What came after that belongs to the next command.
func (s *shell) drop(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.out = s.out[n:]
}

// begin gives bash a command.
func (s *shell) begin(text string) (before int) {
	_ = os.Remove(s.pid)
	s.mu.Lock()
	before = s.ended
	s.mu.Unlock()
	_, err := io.WriteString(s.in, text+"\x00")
	require.NoError(s, err)
	return before
}

// interrupt is ^C, if lwcat has begun already.
func (s *shell) interrupt() bool {
	text, err := os.ReadFile(s.pid)
	pid, malformed := strconv.Atoi(strings.TrimSpace(string(text)))
	return err == nil && malformed == nil && syscall.Kill(pid, syscall.SIGINT) == nil
}

// run runs a command until it has printed what is shown and has ended. One that goes on is interrupted when it has printed
// what is shown above "^C"; if that is nothing, when it watches.
func (s *shell) run(c command, watches func() bool) error {
	s.Log(c.at, c.text)
	s.background = s.background || strings.HasSuffix(c.text, "&")
	above, all := c.pattern(c.above), c.pattern(c.above+c.below)
	before, interrupted := s.begin(c.text), false
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(patience); ; <-tick.C {
		text, done, status := s.printed(before)
		switch {
		case done && all.MatchString(text):
			s.drop(len(text))
			if status == 0 || c.statusAsked || interrupted && status == 130 {
				return nil
			}
			return fmt.Errorf("%s: %s ended with %d: %s", c.at, c.text, status, last(text))
		case done && !s.background, time.Now().After(deadline):
			return fmt.Errorf("%s: %s\nprinted\n%s\nand not, as shown,\n%s", c.at, c.text, last(text), c.above+c.below)
		case !done && !interrupted && c.goesOn() && above.MatchString(text) && (c.above != "" || watches()):
			interrupted = s.interrupt()
		}
	}
}

// last is what a message quotes of a text.
func last(text string) string { return text[max(0, len(text)-2000):] }
