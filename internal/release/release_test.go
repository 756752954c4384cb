package main

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestBillOfMaterialsAndChecksums of a release of two equal commands.
func TestBillOfMaterialsAndChecksums(t *testing.T) {
	folder := t.TempDir()
	first := filepath.Join(folder, "lwcat-linux-amd64")
	require.NoError(t, command("../..", nil, first, runtime.GOOS+"/"+runtime.GOARCH))
	program, err := os.ReadFile(first)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(folder, "lwcat-plan9-mips"), program, 0o755))
	require.NoError(t, writeBOM(folder))
	require.NoError(t, writeSums(folder))

	text, err := os.ReadFile(filepath.Join(folder, "sbom.cdx.json"))
	require.NoError(t, err)
	var found bom
	require.NoError(t, json.Unmarshal(text, &found))
	require.Equal(t, "github.com/seed-6d2a410a/listwatch", found.Metadata.Component.Name)
	names := map[string]string{}
	for _, c := range found.Components {
		require.Empty(t, names[c.Name], "%s is there twice", c.Name)
		names[c.Name] = c.Version
		require.Equal(t, "pkg:golang/"+c.Name+"@"+c.Version, c.PURL)
		require.Contains(t, found.Dependencies[0].DependsOn, c.Ref)
	}
	require.NotEmpty(t, names["std"])
	require.Regexp(t, `^v1\.`, names["github.com/spf13/pflag"])
	require.Empty(t, names["github.com/stretchr/testify"], "it is for tests")

	sums, err := os.ReadFile(filepath.Join(folder, "SHA256SUMS"))
	require.NoError(t, err)
	sum := fmt.Sprintf("%x", sha256.Sum256(program))
	require.Equal(t, sum+"  lwcat-linux-amd64\n"+sum+"  lwcat-plan9-mips\n"+fmt.Sprintf("%x", sha256.Sum256(text))+"  sbom.cdx.json\n", string(sums),
		"as sha256sum -c reads it")
}

// TestAReleaseBeginsWithNothing, so that nothing old goes with it.
func TestAReleaseBeginsWithNothing(t *testing.T) {
	folder := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(folder, "old"), nil, 0o644))
	require.ErrorContains(t, release(folder), "is not empty")
}
