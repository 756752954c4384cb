// Command release completes a release folder that already contains lwcat for each platform. It adds the npm package, a
// bill of materials and the checksums of all files. The output is reproducible.
package main

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: release FOLDER")
		os.Exit(2)
	}
	if err := complete(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

func complete(folder string) error {
	if err := pack("wasm", folder); err != nil {
		return err
	}
	if err := writeBOM(folder); err != nil {
		return err
	}
	return writeSums(folder)
}

// writeSums writes the checksums of all files in folder to SHA256SUMS, for sha256sum -c.
func writeSums(folder string) error {
	files, err := filepath.Glob(filepath.Join(folder, "*"))
	if err != nil {
		return err
	}
	var sums []byte
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		sums = fmt.Appendf(sums, "%x  %s\n", sha256.Sum256(content), filepath.Base(file))
	}
	return os.WriteFile(filepath.Join(folder, "SHA256SUMS"), sums, 0o644)
}
