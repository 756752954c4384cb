package clients

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/seed-6d2a410a/listwatch/internal/testkit/need"
)

// nodeClient runs the JavaScript client's informers in a Node process. For each line of input, the process prints
// the cached objects.
type nodeClient struct {
	*testing.T
	in  io.WriteCloser
	out *bufio.Reader
}

// needNode returns the path of Node. If Node or the JavaScript client is missing, it skips the test, or fails it in CI.
func needNode(t *testing.T) (node string) {
	t.Helper()
	node = need.Program(t, "node", "install Node 20 or later and npm, then run: make e2e-clients")
	if _, err := os.Stat("node/node_modules/@kubernetes/client-node"); err != nil {
		need.Missing(t, "the JavaScript client is not installed; install Node 20 or later and npm, then run: make e2e-clients")
	}
	return node
}

func startNodeClient(t *testing.T, node, url string) *nodeClient {
	ctx, cancel := context.WithTimeout(context.Background(), 3*deadline) // kills a process that hangs, which also ends pending reads
	t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, node, "informer.mjs", url)
	cmd.Dir = "node"
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		in.Close()
		err := cmd.Wait()
		if t.Failed() {
			said := stderr.Bytes()
			t.Logf("end of informer.mjs's stderr: %s", said[max(0, len(said)-4000):])
		}
		require.NoError(t, err)
	})
	return &nodeClient{t, in, bufio.NewReader(out)}
}

func (c *nodeClient) held(resource string) map[string]string {
	c.Helper()
	_, err := io.WriteString(c.in, "\n")
	require.NoError(c, err)
	line, err := c.out.ReadBytes('\n')
	require.NoError(c, err)
	var held map[string]map[string]string
	require.NoError(c, json.Unmarshal(line, &held))
	return held[resource]
}

func TestJavaScript(t *testing.T) {
	node := needNode(t)
	c := newCourse(t, nil)
	c.client = startNodeClient(t, node, c.server.URL)
	c.first = []string{"list", "watch"}
	c.again = []string{"expired watch", "list", "watch"}
	c.run()
}
