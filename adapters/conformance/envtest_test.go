package conformance

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/seed-6d2a410a/listwatch/internal/testkit/need"
)

// etcd translates the flags that envtest passes.
const etcd = `#!/bin/sh
if [ "$1" = --help ]; then exec '%[1]s/kube' help; fi
for flag in "$@"; do
	case "$flag" in
	--data-dir=*) data=${flag#*=} ;;
	--listen-client-urls=*) client=${flag#*=} ;;
	--listen-peer-urls=*) peer=${flag#*=} ;;
	esac
done
exec '%[1]s/kube' etcd --data-dir "$data" --client-url "$client" --peer-url "$peer"
`

const apiserver = `#!/bin/sh
exec '%[1]s/kube' apiserver "$@"
`

// envtestAssets returns a folder with the programs that envtest starts: the servers of make e2e-server.
func envtestAssets(t *testing.T) string {
	output, err := exec.Command("../../e2e/build.sh", "--where").Output()
	require.NoError(t, err)
	binaries := strings.TrimSpace(string(output))
	if _, err := os.Stat(filepath.Join(binaries, "kube")); err != nil {
		need.Missing(t, "the kube-apiserver for tests is not built: run make e2e-server")
	}
	folder := t.TempDir()
	for name, script := range map[string]string{"etcd": etcd, "kube-apiserver": apiserver} {
		require.NoError(t, os.WriteFile(filepath.Join(folder, name), fmt.Appendf(nil, script, binaries), 0o755))
	}
	require.NoError(t, os.Symlink(filepath.Join(binaries, "kubectl"), filepath.Join(folder, "kubectl")))
	return folder
}
