package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestBillOfMaterialsListsCompiledModules(t *testing.T) {
	folder := t.TempDir()
	require.ErrorContains(t, writeBOM(folder), "no lwcat program")
	program := filepath.Join(folder, "lwcat-linux-amd64")
	out, err := exec.Command("go", "build", "-o", program, "../../../cmd/lwcat").CombinedOutput()
	require.NoError(t, err, "%s", out)
	content, err := os.ReadFile(program)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(folder, "lwcat-plan9-mips"), content, 0o755))
	require.NoError(t, writeBOM(folder))

	text, err := os.ReadFile(filepath.Join(folder, "sbom.cdx.json"))
	require.NoError(t, err)
	var found struct {
		Metadata     struct{ Component struct{ Name string } }
		Components   []struct{ Name, Version, PURL string }
		Dependencies []struct{ DependsOn []string }
	}
	require.NoError(t, json.Unmarshal(text, &found))
	require.Equal(t, "github.com/seed-6d2a410a/listwatch", found.Metadata.Component.Name)
	versions := map[string]string{}
	for _, c := range found.Components {
		require.Empty(t, versions[c.Name], "%s is listed twice", c.Name)
		versions[c.Name] = c.Version
		require.Equal(t, "pkg:golang/"+c.Name+"@"+c.Version, c.PURL)
		require.Contains(t, found.Dependencies[0].DependsOn, c.PURL)
	}
	require.NotEmpty(t, versions["std"])
	require.Regexp(t, `^v1\.`, versions["github.com/spf13/pflag"])
	require.Empty(t, versions["github.com/stretchr/testify"], "the BOM must not list a module that only tests import")
}

func TestWritesChecksumsInSha256sumFormat(t *testing.T) {
	folder := t.TempDir()
	write(t, folder, map[string]string{"a": "1", "b": "2"})
	require.NoError(t, writeSums(folder))
	sums, err := os.ReadFile(filepath.Join(folder, "SHA256SUMS"))
	require.NoError(t, err)
	require.Equal(t, fmt.Sprintf("%x  a\n%x  b\n", sha256.Sum256([]byte("1")), sha256.Sum256([]byte("2"))), string(sums))
}

func TestTarballContainsPackageFiles(t *testing.T) {
	from, folder := t.TempDir(), t.TempDir()
	files := map[string]string{
		"package.json": `{"name":"p","version":"1.2.3","files":["*.js","x.wasm"]}`,
		"README.md":    "read", "LICENSE": "free", "a.js": "1", "b.js": "2",
	}
	write(t, from, files)
	write(t, from, map[string]string{"tool.mjs": "not packed"})
	require.ErrorContains(t, pack(from, folder), "no file matches x.wasm")

	files["x.wasm"] = "\x00asm"
	write(t, from, files)
	require.NoError(t, pack(from, folder))
	tarball, err := os.ReadFile(filepath.Join(folder, "p-1.2.3.tgz"))
	require.NoError(t, err)
	require.Equal(t, files, unpack(t, tarball))
}

func write(t *testing.T, folder string, files map[string]string) {
	t.Helper()
	for name, content := range files {
		require.NoError(t, os.WriteFile(filepath.Join(folder, name), []byte(content), 0o644))
	}
}

// unpack returns the contents of the files in a tarball, by name.
func unpack(t *testing.T, tarball []byte) map[string]string {
	t.Helper()
	files := map[string]string{}
	uncompressed, err := gzip.NewReader(bytes.NewReader(tarball))
	require.NoError(t, err)
	for archive := tar.NewReader(uncompressed); ; {
		header, err := archive.Next()
		if err == io.EOF {
			return files
		}
		require.NoError(t, err)
		content, err := io.ReadAll(archive)
		require.NoError(t, err)
		name, err := filepath.Rel("package", header.Name)
		require.NoError(t, err)
		files[name] = string(content)
	}
}
