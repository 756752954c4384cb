package kube

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
)

// ErrNotBuilt is the error of [Locate] and [New] when the binaries do not exist. Building them takes minutes, so it is
// left to the caller.
var ErrNotBuilt = errors.New("the kube-apiserver for tests is not built; run: make e2e-server")

// Locate returns the folder of the binaries kube and kubectl. The working directory must be within the e2e module, as
// in every test of that module. Without binaries the error matches [ErrNotBuilt].
func Locate() (string, error) { return locateOnce() }

// The result cannot change during a run, and each lookup starts processes.
var locateOnce = sync.OnceValues(locate)

func locate() (string, error) {
	script, err := findScript()
	if err != nil {
		return "", err
	}
	// The folder's name is computed only in the script.
	cmd := exec.Command(script, "--where")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("running %s: %w\n%s", script, err, stderr.Bytes())
	}
	folder := strings.TrimSpace(string(out))
	for _, name := range []string{"kube", "kubectl"} {
		if _, err := os.Stat(filepath.Join(folder, name)); err != nil {
			return "", fmt.Errorf("%w (no %s in %s)", ErrNotBuilt, name, folder)
		}
	}
	return folder, nil
}

// findScript finds build.sh in the working folder or above it. Go runs a test in the folder of its package.
func findScript() (string, error) {
	start, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for folder := start; ; folder = filepath.Dir(folder) {
		script := filepath.Join(folder, "build.sh")
		if _, err := os.Stat(script); err == nil {
			return script, nil
		}
		if filepath.Dir(folder) == folder {
			return "", fmt.Errorf("no build.sh of the e2e module in %s or above it", start)
		}
	}
}
