//go:build unix

package stages

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/seed-6d2a410a/listwatch/internal/testkit/need"
	"github.com/stretchr/testify/require"
)

// makefile has two targets, left and right, that finish only if both run at the same time. A third target, hang, keeps
// the pipe open until it is killed, so that a test can see when it ends.
const makefile = `
left:; @echo left runs; echo met > pipe
right:; @cat pipe
hang:; @exec 3> pipe; echo hangs >&3; sleep 600
good:; @echo good runs
bad:; @echo bad runs; exit 3
worse:; @echo worse runs; exit 4
`

// stages returns a command that runs stages.sh in a folder with the Makefile. Each lane is a list of make targets that
// run one after another.
func stages(t *testing.T, lanes ...string) *exec.Cmd {
	need.Program(t, "make", "on Debian: apt install make")
	need.Program(t, "bash", "on Debian: apt install bash")
	script, err := filepath.Abs("stages.sh")
	require.NoError(t, err)
	cmd := exec.CommandContext(t.Context(), script, lanes...)
	cmd.Dir = t.TempDir()
	require.NoError(t, syscall.Mkfifo(filepath.Join(cmd.Dir, "pipe"), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(cmd.Dir, "Makefile"), []byte(makefile), 0o600))
	return cmd
}

func TestLanesRunConcurrently(t *testing.T) {
	out, err := stages(t, "left good", "right").CombinedOutput()
	require.NoError(t, err, "%s", out)
	for _, section := range []string{
		`=== left: ok after \d+ s\nleft runs\n`, `=== right: ok after \d+ s\nmet\n`, `=== good: ok after \d+ s\ngood runs\n`,
		`\nleft +\d+ s  ok\n`, `\nright +\d+ s  ok\n`, `\ngood +\d+ s  ok\n`, `\ntotal +\d+ s\n$`,
	} {
		require.Regexp(t, section, string(out))
	}
}

func TestPrintsOutputOfFirstFailureLast(t *testing.T) {
	out, err := stages(t, "bad worse good").CombinedOutput()
	require.ErrorContains(t, err, "exit status 1", "%s", out)
	require.Contains(t, string(out), "good runs\n", "the lane must continue after a failure")
	table, last, _ := strings.Cut(string(out), "\n=== bad failed first. Its output:\n")
	require.Regexp(t, `\nbad +\d+ s  FAILED\nworse +\d+ s  FAILED\ngood +\d+ s  ok\ntotal`, table)
	require.Regexp(t, `^bad runs\nmake.*: .*Error 3\n$`, last)
}

func TestInterruptStopsLanes(t *testing.T) {
	cmd := stages(t, "hang", "good")
	require.NoError(t, cmd.Start())
	pipe, err := os.Open(filepath.Join(cmd.Dir, "pipe"))
	require.NoError(t, err)
	defer pipe.Close()
	line, err := bufio.NewReader(io.LimitReader(pipe, 6)).ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "hangs\n", line)

	require.NoError(t, cmd.Process.Signal(os.Interrupt))
	require.ErrorContains(t, cmd.Wait(), "exit status 130")
	rest, err := io.ReadAll(pipe) // returns when all processes have closed the pipe
	require.NoError(t, err)
	require.Empty(t, rest)
}
