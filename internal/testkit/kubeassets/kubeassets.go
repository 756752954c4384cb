// Package kubeassets finds the servers that were built by "make e2e-server", and lets controller-runtime's package
// envtest start them.
package kubeassets

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// ErrNotBuilt is returned by [Locate] and [Write] if the servers have not been built.
var ErrNotBuilt = errors.New("the kube-apiserver for tests is not built: run make e2e-server")

// script is a program that envtest starts instead of a server. It runs a subcommand of the program kube.
const script = "#!/bin/sh\nexec '%s/kube' %s \"$@\"\n"

// Locate returns the folder that contains the programs kube and kubectl. root is the repository's root.
func Locate(root string) (folder string, err error) {
	// The folder's name contains a hash, which only the script can compute. Because this function reads KUBE, go test
	// knows that its cached results depend on this variable.
	where := exec.Command(filepath.Join(root, "e2e", "build.sh"), "--where")
	where.Env = append(os.Environ(), "KUBE="+os.Getenv("KUBE"))
	output, err := where.Output()
	if err != nil {
		return "", fmt.Errorf("e2e/build.sh --where: %w", err)
	}
	folder = strings.TrimSpace(string(output))
	for _, program := range []string{"kube", "kubectl"} {
		if _, err := os.Stat(filepath.Join(folder, program)); err != nil {
			return "", fmt.Errorf("%w: %w", ErrNotBuilt, err)
		}
	}
	return folder, nil
}

// Write writes the programs that envtest needs into folder, which must exist. root is the repository's root. Use folder
// as envtest's BinaryAssetsDirectory.
func Write(root, folder string) error {
	binaries, err := Locate(root)
	if err != nil {
		return err
	}
	for name, command := range map[string]string{"etcd": "etcd", "kube-apiserver": "apiserver"} {
		if err := os.WriteFile(filepath.Join(folder, name), fmt.Appendf(nil, script, binaries, command), 0o755); err != nil {
			return err
		}
	}
	return os.Symlink(filepath.Join(binaries, "kubectl"), filepath.Join(folder, "kubectl"))
}
