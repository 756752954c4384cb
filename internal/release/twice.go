package main

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
)

// twice builds what was committed last in two places, the second time with an empty cache, and compares: whoever builds it,
// gets the same bytes.
func twice() error {
	folder, err := os.MkdirTemp("", "twice")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	var sums [2]map[string]string
	for i, place := range []string{"here", "another/place/with/a/longer/name"} {
		place = filepath.Join(folder, place)
		if err := run(".", nil, "git", "clone", "--quiet", ".", place); err != nil {
			return err
		}
		var env []string
		if i > 0 {
			env = []string{"GOCACHE=" + filepath.Join(folder, "cache")}
		}
		if sums[i], err = build(place, env); err != nil {
			return err
		}
	}
	for file, sum := range sums[0] {
		if sums[1][file] != sum {
			return fmt.Errorf("%s is not reproducible: %s, and in another place with an empty cache %s", file, sum, sums[1][file])
		}
		fmt.Println(sum, file)
	}
	return nil
}

// build makes lwcat and the browser's program, and returns their checksums.
func build(place string, env []string) (sums map[string]string, err error) {
	if err := run(place, env, "go", "run", "./internal/wasmbuild", "wasm"); err != nil {
		return nil, err
	}
	if err := command(place, env, filepath.Join(place, "lwcat"), "linux/amd64"); err != nil {
		return nil, err
	}
	sums = map[string]string{}
	for _, file := range []string{"wasm/listwatch.wasm", "wasm/go.js", "lwcat"} {
		content, err := os.ReadFile(filepath.Join(place, file))
		if err != nil {
			return nil, err
		}
		sums[file] = fmt.Sprintf("%x", sha256.Sum256(content))
	}
	return sums, nil
}
