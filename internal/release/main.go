// Release makes what is given to others, into a folder: lwcat for each platform, the JavaScript package, a list of all that they
// were compiled from, in CycloneDX's form, and the checksums of all. With -twice it builds a part of it in two places, and
// fails if there is a difference.
package main

import (
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// platforms are those that lwcat is made for.
var platforms = []string{"linux/amd64", "linux/arm64", "darwin/amd64", "darwin/arm64", "windows/amd64", "windows/arm64"}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: release folder | -twice")
		os.Exit(2)
	}
	do := func() error { return release(os.Args[1]) }
	if os.Args[1] == "-twice" {
		do = twice
	}
	if err := do(); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

func release(folder string) error {
	folder, err := filepath.Abs(folder)
	if err != nil {
		return err
	}
	if left, err := filepath.Glob(filepath.Join(folder, "*")); err != nil || len(left) > 0 {
		return fmt.Errorf("%s is not empty: what is left there would be taken for a part of the release", folder)
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	for _, platform := range platforms {
		name := "lwcat-" + strings.ReplaceAll(platform, "/", "-")
		if strings.HasPrefix(platform, "windows") {
			name += ".exe"
		}
		if err := command(".", nil, filepath.Join(folder, name), platform); err != nil {
			return err
		}
	}
	if err := run("wasm", nil, "npm", "pack", "--silent", "--pack-destination", folder); err != nil {
		return fmt.Errorf("%w; it needs npm", err)
	}
	if err := writeBOM(folder); err != nil {
		return err
	}
	return writeSums(folder)
}

// command makes lwcat for a platform, of the sources in a folder.
func command(in string, env []string, file, platform string) error {
	system, processor, _ := strings.Cut(platform, "/")
	return run(in, append(env, "CGO_ENABLED=0", "GOOS="+system, "GOARCH="+processor),
		"go", "build", "-trimpath", "-ldflags=-s -w -buildid=", "-o", file, "./cmd/lwcat")
}

func run(in string, env []string, name string, args ...string) error {
	fmt.Fprintln(os.Stderr, strings.Join(append(append(env, name), args...), " "))
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = in, os.Stdout, os.Stderr
	cmd.Env = append(os.Environ(), env...)
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// writeSums writes SHA256SUMS, which sha256sum -c reads.
func writeSums(folder string) error {
	files, err := filepath.Glob(filepath.Join(folder, "*"))
	if err != nil {
		return err
	}
	var sums strings.Builder
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		fmt.Fprintf(&sums, "%x  %s\n", sha256.Sum256(content), filepath.Base(file))
	}
	return os.WriteFile(filepath.Join(folder, "SHA256SUMS"), []byte(sums.String()), 0o644)
}
