package bom

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/seed-6d2a410a/listwatch/internal/testkit/need"
	"github.com/stretchr/testify/require"
)

func TestBillOfMaterialsListsCompiledModules(t *testing.T) {
	node, folder := need.Program(t, "node", "install Node 20 or later"), t.TempDir()
	out, err := exec.Command(node, "bom.mjs", folder).CombinedOutput()
	require.Error(t, err)
	require.Contains(t, string(out), "no lwcat program")
	program := filepath.Join(folder, "lwcat-linux-amd64")
	out, err = exec.Command("go", "build", "-o", program, "../../../cmd/lwcat").CombinedOutput()
	require.NoError(t, err, "%s", out)
	content, err := os.ReadFile(program)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(folder, "lwcat-plan9-mips"), content, 0o755))
	out, err = exec.Command(node, "bom.mjs", folder).CombinedOutput()
	require.NoError(t, err, "%s", out)

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
