// Command release completes the folder of a release, which holds lwcat for each platform. It adds the npm package, a bill of
// materials and the checksums of all files. The same files give the same bytes.
package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"time"
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

// writeSums writes SHA256SUMS in the format of sha256sum -c.
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

type object = map[string]any

// writeBOM writes a bill of materials in the CycloneDX 1.6 format. It names Go and each module in the programs of the folder.
// The WASM module of the npm package is built from a subset of them.
func writeBOM(folder string) error {
	programs, err := filepath.Glob(filepath.Join(folder, "lwcat-*"))
	if err != nil {
		return err
	}
	if len(programs) == 0 {
		return fmt.Errorf("no lwcat program in %s", folder)
	}
	var main object
	libraries := map[string]object{}
	for _, program := range programs {
		info, err := buildinfo.ReadFile(program)
		if err != nil {
			return fmt.Errorf("%s: %w", program, err)
		}
		main = component("application", &info.Main)
		goVersion := strings.TrimPrefix(info.GoVersion, "go")
		for _, module := range append(info.Deps, &debug.Module{Path: "std", Version: goVersion}) {
			library := component("library", module)
			libraries[library["purl"].(string)] = library
		}
	}
	purls := slices.Sorted(maps.Keys(libraries))
	var components []object
	for _, purl := range purls {
		components = append(components, libraries[purl])
	}
	text, err := json.MarshalIndent(object{
		"bomFormat": "CycloneDX", "specVersion": "1.6", "version": 1,
		"metadata":     object{"component": main},
		"components":   components,
		"dependencies": []object{{"ref": main["bom-ref"], "dependsOn": purls}},
	}, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(folder, "sbom.cdx.json"), append(text, '\n'), 0o644)
}

func component(kind string, module *debug.Module) object {
	purl := "pkg:golang/" + module.Path + "@" + module.Version
	return object{"type": kind, "bom-ref": purl, "name": module.Path, "version": module.Version, "purl": purl}
}

// pack writes the tarball of an npm package into a folder, with the files that npm pack takes.
func pack(from, folder string) error {
	text, err := os.ReadFile(filepath.Join(from, "package.json"))
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
	names, err := packed(from, manifest.Files)
	if err != nil {
		return err
	}
	var tarball bytes.Buffer
	compressed := gzip.NewWriter(&tarball)
	archive := tar.NewWriter(compressed)
	for _, name := range names {
		if err := add(archive, from, name); err != nil {
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

// packed returns the names of the files in a package: those that match the patterns, and those that npm always adds.
func packed(from string, patterns []string) (names []string, err error) {
	for _, pattern := range append(patterns, "package.json", "README.md", "LICENSE") {
		found, err := filepath.Glob(filepath.Join(from, pattern))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", pattern, err)
		}
		if len(found) == 0 {
			return nil, fmt.Errorf("no file matches %s in %s; make wasm builds the generated files", pattern, from)
		}
		for _, file := range found {
			names = append(names, filepath.Base(file))
		}
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

// add appends a file to a tarball, with the fixed time and mode of npm's tarballs.
func add(archive *tar.Writer, from, name string) error {
	content, err := os.ReadFile(filepath.Join(from, name))
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
