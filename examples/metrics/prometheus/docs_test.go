package prometheus

import (
	"testing"

	"github.com/seed-6d2a410a/listwatch/internal/testkit/docs"
	"github.com/stretchr/testify/require"
)

func TestDocumentedCodeCompiles(t *testing.T) {
	module := docs.Module{Folder: "examples/metrics", Names: docs.Names(), Given: docs.Given()}
	module.Names["client_golang"] = "github.com/prometheus/client_golang/prometheus"
	module.Names["prometheus"] = "github.com/seed-6d2a410a/listwatch/examples/metrics/prometheus"
	module.Given["registry"] = "client_golang.Registerer"
	require.NoError(t, docs.CompileAll("../../..", module))
}
