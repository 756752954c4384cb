package conformance

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/seed-6d2a410a/listwatch/internal/testkit/kubeassets"
	"github.com/seed-6d2a410a/listwatch/internal/testkit/need"
)

// envtestAssets returns a folder with the binaries that envtest needs. It skips the test if they have not been built.
func envtestAssets(t *testing.T) string {
	folder := t.TempDir()
	err := kubeassets.Write("../..", folder)
	if errors.Is(err, kubeassets.ErrNotBuilt) {
		need.Missing(t, "%v", err)
	}
	require.NoError(t, err)
	return folder
}
