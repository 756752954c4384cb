package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// pack writes the tarball of the npm package in source to folder. The tarball contains the same files as the output of
// `npm pack`.
func pack(source, folder string) error {
	text, err := os.ReadFile(filepath.Join(source, "package.json"))
	if err != nil {
		return err
	}
	var manifest struct {
		Name, Version string
		Files         []string
	}
	if err := json.Unmarshal(text, &manifest); err != nil {
		return err
	}
	names, err := packed(source, manifest.Files)
	if err != nil {
		return err
	}
	var tarball bytes.Buffer
	compressed := gzip.NewWriter(&tarball)
	archive := tar.NewWriter(compressed)
	for _, name := range names {
		if err := add(archive, source, name); err != nil {
			return err
		}
	}
	if err := archive.Close(); err != nil {
		return err
	}
	if err := compressed.Close(); err != nil {
		return err
	}
	file := fmt.Sprintf("%s-%s.tgz", manifest.Name, manifest.Version)
	return os.WriteFile(filepath.Join(folder, file), tarball.Bytes(), 0o644)
}

// packed returns the names of the files in a package: the files that match the patterns, and the files that npm always
// adds.
func packed(source string, patterns []string) (names []string, err error) {
	for _, pattern := range append(patterns, "package.json", "README.md", "LICENSE") {
		found, err := filepath.Glob(filepath.Join(source, pattern))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", pattern, err)
		}
		if len(found) == 0 {
			return nil, fmt.Errorf("no file matches %s in %s; run make wasm to build the generated files", pattern, source)
		}
		for _, file := range found {
			names = append(names, filepath.Base(file))
		}
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

// add adds a file to the archive with the mode and modification time that npm uses.
func add(archive *tar.Writer, source, name string) error {
	content, err := os.ReadFile(filepath.Join(source, name))
	if err != nil {
		return err
	}
	header := &tar.Header{
		Name: "package/" + name, Size: int64(len(content)), Mode: 0o644,
		ModTime: time.Date(1985, time.October, 26, 8, 15, 0, 0, time.UTC),
	}
	if err := archive.WriteHeader(header); err != nil {
		return err
	}
	_, err = archive.Write(content)
	return err
}
