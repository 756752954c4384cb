package e2e

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed-6d2a410a/listwatch/e2e/kube"
)

// comparison runs lwcat and kubectl on the same objects. Its tests verify the comparison in docs/lwcat.md.
type comparison struct{ *lwcat }

// newComparison returns a comparison with a new cluster. Watches without a requested timeout, such as those of kubectl,
// end after 5 to 10 seconds, so that the tests need not wait for the default of 30 to 60 minutes.
func newComparison(t *testing.T) comparison {
	l := &lwcat{T: t, Cluster: kube.Start(t, "--min-request-timeout=5"), path: buildLwcat(t), namespace: "default"}
	l.create("first")
	return comparison{l}
}

func (l *lwcat) create(name string) {
	l.Helper()
	l.write(http.MethodPost, "/api/v1/namespaces/"+l.namespace+"/configmaps", `{"metadata":{"name":"`+name+`"}}`)
}

func (b comparison) kubectl(args ...string) *exec.Cmd {
	ctx, cancel := context.WithTimeout(b.Context(), time.Minute)
	b.Cleanup(cancel)
	return exec.CommandContext(ctx, b.Kubectl, append([]string{"--kubeconfig", b.Kubeconfig, "--cache-dir", b.TempDir()}, args...)...)
}

// running is a started command and its output so far.
type running struct {
	mu       sync.Mutex
	out, err bytes.Buffer
	ended    chan struct{}
	cmd      *exec.Cmd
}

// locked is an io.Writer. It holds the lock during each write, because tests read the output of a running command.
type locked struct {
	mu *sync.Mutex
	to *bytes.Buffer
}

func (l locked) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.to.Write(p)
}

func (b comparison) start(cmd *exec.Cmd) *running {
	r := &running{ended: make(chan struct{}), cmd: cmd}
	cmd.Stdout, cmd.Stderr = locked{&r.mu, &r.out}, locked{&r.mu, &r.err}
	require.NoError(b, cmd.Start())
	go func() {
		_ = cmd.Wait() // the test reads the exit code from cmd.ProcessState
		close(r.ended)
	}()
	b.Cleanup(func() { _ = cmd.Process.Kill(); <-r.ended })
	return r
}

func (r *running) printed() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.out.String()
}

func (r *running) stderr() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err.String()
}

// see waits until the command's stdout contains text.
func (b comparison) see(r *running, text string) {
	b.Helper()
	ctx, cancel := context.WithTimeout(b.Context(), time.Minute)
	defer cancel()
	require.NoError(b, kube.Poll(ctx, text, func(context.Context) error {
		if !strings.Contains(r.printed(), text) {
			return fmt.Errorf("stdout is %q, stderr is %q", r.printed(), r.stderr())
		}
		return nil
	}))
}

// prints waits until the command's stdout contains text or the command has exited. It reports whether stdout contains text.
// On a busy machine, a watch of kubectl may end before the change that the test makes.
func (b comparison) prints(r *running, text string) bool {
	b.Helper()
	for end := time.Now().Add(time.Minute); !strings.Contains(r.printed(), text); time.Sleep(10 * time.Millisecond) {
		select {
		case <-r.ended:
			return strings.Contains(r.printed(), text)
		default:
			require.True(b, time.Now().Before(end), "%q is missing: stdout is %q, stderr is %q", text, r.printed(), r.stderr())
		}
	}
	return true
}

// ends waits until the command exits and returns its exit code.
func (b comparison) ends(r *running) int {
	b.Helper()
	select {
	case <-r.ended:
	case <-time.After(time.Minute):
		require.Fail(b, "the command did not exit within a minute", "%s", r.stderr())
	}
	return r.cmd.ProcessState.ExitCode()
}

// TestKubectlExitsWhenItsWatchEnds checks that kubectl exits with code 0 when its watch times out or its server is
// killed. lwcat continues and prints the later changes.
func TestKubectlExitsWhenItsWatchEnds(t *testing.T) {
	b := newComparison(t)
	ours := b.start(b.command("cm", "-o", "name"))
	b.see(ours, "configmap/first")
	theirs := b.start(b.kubectl("get", "cm", "-w", "-o", "name"))
	require.Zero(t, b.ends(theirs))
	require.Equal(t, "configmap/first\n", theirs.printed())
	require.Empty(t, theirs.stderr())
	b.create("after-the-timeout")
	b.see(ours, "configmap/after-the-timeout")

	for open, try := false, 0; !open; try++ { // the event proves that kubectl's watch is open
		theirs = b.start(b.kubectl("get", "cm", "-w", "-o", "name"))
		b.see(theirs, "configmap/first")
		name := fmt.Sprint("before-the-kill-", try)
		b.create(name)
		open = b.prints(theirs, "configmap/"+name)
	}
	b.Kill()
	require.Zero(t, b.ends(theirs), "kubectl must exit with code 0 even if the server is killed")
	t.Logf("kubectl's stderr after the server was killed: %q", theirs.stderr())
	require.NoError(t, b.StartAPIServer(t.Context()))
	b.create("after-the-restart")
	b.see(ours, "configmap/after-the-restart")
	require.Contains(t, ours.stderr(), "resuming from resourceVersion")
}

func TestKubectlComparedWithLwcat(t *testing.T) {
	b := newComparison(t)
	b.write(http.MethodPost, "/api/v1/namespaces/default/secrets", `{"metadata":{"name":"s"}}`)
	out, err := b.kubectl("get", "cm,secrets", "-w").CombinedOutput()
	require.Error(t, err)
	require.Contains(t, string(out), "you may only specify a single resource type")
	out, err = b.command("cm,secrets", "-o", "name", "--count", "2").CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.ElementsMatch(t, []string{"configmap/first", "secret/s"}, strings.Fields(string(out)))

	// Without --output-watch-events, kubectl prints a deletion like a change. With -o name, kubectl ignores this flag.
	ours := b.start(b.command("cm", "-o", "jsonl"))
	b.see(ours, "first")
	for open := false; !open; {
		theirs, typed := b.start(b.kubectl("get", "cm", "-w", "-o", "name")), b.start(b.kubectl("get", "cm", "-w", "--output-watch-events"))
		b.see(theirs, "first")
		b.see(typed, "first")
		b.write(http.MethodDelete, "/api/v1/namespaces/default/configmaps/first", "")
		b.see(ours, `{"type":"DELETED"`)
		open = b.prints(theirs, "configmap/first\nconfigmap/first\n") && b.prints(typed, "DELETED ")
		b.create("first")
	}

	// kubectl does not mark the end of a YAML document. A reader must wait for the separator that precedes the next
	// document.
	b.create("second")
	docs, theirDocs := b.start(b.command("cm", "-o", "yaml")), b.start(b.kubectl("get", "cm", "-w", "-o", "yaml"))
	b.see(docs, "\n...\n")
	require.Zero(t, b.ends(theirDocs))
	require.NotContains(t, theirDocs.printed(), "...\n")

	theirs := b.start(b.kubectl("wait", "cm/second", "--for=jsonpath={.data.k}=v", "--timeout=1s"))
	require.Equal(t, 1, b.ends(theirs))
	require.Equal(t, 3, b.ends(b.start(b.command("cm/second", "--until", "data.k=v", "--timeout", "1s"))))
	help, err := b.kubectl("get", "--help").Output()
	require.NoError(t, err)
	for _, missing := range []string{"--record", "--replay", "--resume", "--diff"} {
		require.NotContains(t, string(help), missing)
	}
}
