package kube

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
)

// ErrNotBuilt means that the binaries do not exist. [New] does not build them, because a build takes minutes.
var ErrNotBuilt = errors.New("the kube-apiserver for tests is not built; run: make e2e-server")

// locate returns the folder that contains the programs kube and kubectl. If they do not exist, the error matches
// [ErrNotBuilt]. The result is cached, because running the script takes time.
var locate = sync.OnceValues(func() (string, error) {
	_, file, _, _ := runtime.Caller(0)
	// Only the script can compute the folder's name, which contains a hash.
	cmd := exec.Command(filepath.Join(filepath.Dir(file), "..", "build.sh"), "--where")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("running %s: %w\n%s", cmd.Path, err, stderr.Bytes())
	}
	folder := strings.TrimSpace(string(out))
	for _, name := range []string{"kube", "kubectl"} {
		if _, err := os.Stat(filepath.Join(folder, name)); err != nil {
			return "", fmt.Errorf("%w (no %s in %s)", ErrNotBuilt, name, folder)
		}
	}
	return folder, nil
})
