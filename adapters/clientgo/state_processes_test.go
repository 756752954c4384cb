package clientgo

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/client-go/tools/cache"

	"github.com/seed-6d2a410a/listwatch/lwtest"
)

// stateDir and serverURL are environment variables that pass the folder and the server's URL to the processes in
// TestProcessesShareStateDir.
const (
	stateDir  = "LISTWATCH_TEST_STATE_DIR"
	serverURL = "LISTWATCH_TEST_SERVER"
)

// TestProcessesShareStateDir runs several processes with one folder. In each round, one process is killed while it
// saves, and another saves while the next processes restore. Each process must reach the server's state, and only
// the first ones may need a list.
func TestProcessesShareStateDir(t *testing.T) {
	if folder := os.Getenv(stateDir); folder != "" {
		printPods(t, folder)
		return
	}
	t.Parallel()
	server := startServer(t)
	folder := t.TempDir()
	var pods []string
	var last *process // process of the previous round that may still be saving
	for round := range 4 {
		listed := lists(server)
		killed, saved, saving := startProcess(t, server, folder), startProcess(t, server, folder), startProcess(t, server, folder)
		name := fmt.Sprint("pod-", round)
		putPod(t, server, name, "n1")
		pods = append(pods, name+"@n1")
		for _, p := range []*process{killed, saved, saving} {
			p.waitFor(t, strings.Join(pods, " "))
		}
		require.Equal(t, round == 0, lists(server) > listed)
		if last != nil {
			last.waitForEnd(t)
		}
		for _, p := range []*process{killed, saved, saving} {
			require.NoError(t, p.stdin.Close())
		}
		require.NoError(t, killed.cmd.Process.Kill())
		_ = killed.cmd.Wait() // the process may have ended before it was killed
		saved.waitForEnd(t)
		last = saving
	}
	last.waitForEnd(t)
	files, err := filepath.Glob(filepath.Join(folder, "*.state"))
	require.NoError(t, err)
	require.Len(t, files, 1)
}

type process struct {
	cmd    *exec.Cmd
	stdin  io.Closer
	lines  *bufio.Scanner
	errors strings.Builder
}

func startProcess(t *testing.T, server *lwtest.Server, folder string) *process {
	p := &process{cmd: exec.Command(os.Args[0], "-test.run=^TestProcessesShareStateDir$")}
	p.cmd.Env = append(os.Environ(), stateDir+"="+folder, serverURL+"="+server.URL)
	p.cmd.Stderr = &p.errors
	stdin, err := p.cmd.StdinPipe()
	require.NoError(t, err)
	stdout, err := p.cmd.StdoutPipe()
	require.NoError(t, err)
	p.stdin, p.lines = stdin, bufio.NewScanner(stdout)
	require.NoError(t, p.cmd.Start())
	return p
}

// waitFor blocks until the process has printed line.
func (p *process) waitFor(t *testing.T, line string) {
	for p.lines.Scan() {
		if p.lines.Text() == line {
			return
		}
	}
	require.Fail(t, "the process ended", "wanted %q, stderr: %s", line, p.errors.String())
}

// waitForEnd blocks until the process has ended. The process must not have reported an error.
func (p *process) waitForEnd(t *testing.T) {
	require.NoError(t, p.cmd.Wait())
	require.NotContains(t, p.errors.String(), "state")
}

// printPods runs an informer until standard input ends. After each event, it prints all Pods.
func printPods(t *testing.T, folder string) {
	server := &lwtest.Server{URL: os.Getenv(serverURL)}
	informer := podInformerWith(t, server, Extras{StateDir: folder})
	_, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: func(any) {
		var pods []string
		for _, pod := range informer.GetStore().List() {
			pods = append(pods, describe(pod))
		}
		slices.Sort(pods)
		fmt.Println(strings.Join(pods, " "))
	}})
	require.NoError(t, err)
	stop := start(t, informer)
	_, err = io.Copy(io.Discard, os.Stdin)
	require.NoError(t, err)
	stop()
}
