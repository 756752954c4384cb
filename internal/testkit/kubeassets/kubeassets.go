// Package kubeassets lets controller-runtime's package envtest start the servers that "make e2e-server" has built.
package kubeassets

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// ErrNotBuilt is returned by [Write] if the servers have not been built.
var ErrNotBuilt = errors.New("the kube-apiserver for tests is not built: run make e2e-server")

// etcd is a script that envtest starts instead of etcd. It translates envtest's flags for the program kube.
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

// Write writes the programs that envtest needs into folder, which must exist. root is the repository's root. Use folder
// as envtest's BinaryAssetsDirectory.
func Write(root, folder string) error {
	output, err := exec.Command(filepath.Join(root, "e2e", "build.sh"), "--where").Output()
	if err != nil {
		return fmt.Errorf("e2e/build.sh --where: %w", err)
	}
	binaries := strings.TrimSpace(string(output))
	if _, err := os.Stat(filepath.Join(binaries, "kube")); err != nil {
		return fmt.Errorf("%w: %w", ErrNotBuilt, err)
	}
	for name, script := range map[string]string{"etcd": etcd, "kube-apiserver": apiserver} {
		if err := os.WriteFile(filepath.Join(folder, name), fmt.Appendf(nil, script, binaries), 0o755); err != nil {
			return err
		}
	}
	return os.Symlink(filepath.Join(binaries, "kubectl"), filepath.Join(folder, "kubectl"))
}
