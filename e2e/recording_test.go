package e2e

import (
	"bufio"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestRecordingOfRealServer checks that the replay of a recording prints the same lines as the recorded run, and that
// the recording does not contain the token.
func TestRecordingOfRealServer(t *testing.T) {
	l := newLwcat(t)
	configMaps := "/api/v1/namespaces/" + l.namespace + "/configmaps"
	l.write(http.MethodPost, configMaps, `{"metadata":{"name":"first"}}`)
	file := filepath.Join(t.TempDir(), "run")
	record := l.command("cm", "--field-selector", "metadata.name!=kube-root-ca.crt", "--record", file, "-o", "name", "--output-watch-events", "--count", "4")
	out, err := record.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, record.Start())
	printed := bufio.NewReader(out)
	first, err := printed.ReadString('\n')
	require.NoError(t, err)
	l.write(http.MethodPost, configMaps, `{"metadata":{"name":"second"}}`)
	l.write(http.MethodPut, configMaps+"/second", `{"metadata":{"name":"second"},"data":{"k":"v"}}`)
	l.write(http.MethodDelete, configMaps+"/first", "")
	rest, err := io.ReadAll(printed)
	require.NoError(t, err)
	require.NoError(t, record.Wait())
	require.Equal(t, "ADDED    configmap/second\nMODIFIED configmap/second\nDELETED  configmap/first\n", string(rest))
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	require.NotContains(t, string(text), l.AdminToken)

	replay := exec.CommandContext(t.Context(), l.path, "--replay", file, "-o", "name", "--output-watch-events", "--count", "4")
	replayed, err := replay.Output()
	require.NoError(t, err)
	require.Equal(t, first+string(rest), string(replayed))
}
