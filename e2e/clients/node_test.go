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

// nodeClient is the JavaScript client's informers, in a process that answers a line with what they hold.
type nodeClient struct {
	*testing.T
	in  io.WriteCloser
	out *bufio.Reader
}

// needNode skips the test if what it needs is missing; in CI it fails.
func needNode(t *testing.T) (node string) {
	t.Helper()
	node = need.Program(t, "node", "with Node 20 or later and npm: make e2e-clients")
	if _, err := os.Stat("node/node_modules/@kubernetes/client-node"); err != nil {
		need.Missing(t, "the JavaScript client is not installed; with Node 20 or later and npm: make e2e-clients")
	}
	return node
}

func startNodeClient(t *testing.T, node, url string) *nodeClient {
	ctx, cancel := context.WithTimeout(context.Background(), 3*deadline) // a hang ends here, and so does whoever reads from it
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
			t.Logf("informer.mjs said at last: %s", said[max(0, len(said)-4000):])
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
