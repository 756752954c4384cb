package e2e

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/seed-6d2a410a/listwatch/e2e/kube"
	"github.com/seed-6d2a410a/listwatch/internal/testkit/scenarios"
	"github.com/seed-6d2a410a/listwatch/lw"
	"github.com/seed-6d2a410a/listwatch/lw/codec"
	lwhttp "github.com/seed-6d2a410a/listwatch/transport/http"
)

// TestRealServer runs the scenarios of the embedded server on a real kube-apiserver, over JSON and protobuf.
func TestRealServer(t *testing.T) { runScenarios(t, shared.Get(t), protobufConfigMaps{}) }

// TestWithoutWatchCache runs the scenarios on a server that reads everything from etcd. Lists at resourceVersion "0"
// are paged, and resourceVersions expire when etcd compacts its history.
func TestWithoutWatchCache(t *testing.T) {
	t.Parallel() // starts its own cluster and is mostly idle
	runScenarios(t, kube.Start(t, "--watch-cache=false"), nil)
}

func runScenarios(t *testing.T, c *kube.Cluster, protobuf lw.Codec[*lw.Object]) {
	require.NoError(t, c.CreateCRD(t.Context()))
	client := c.HTTPClient()
	t.Cleanup(client.CloseIdleConnections)
	scenarios.Run(t, &scenarios.Cluster{
		URL:         c.URL,
		Connect:     func(token string) *lwhttp.Options { return &lwhttp.Options{CAData: c.CAPEM, Token: token} },
		Client:      client,
		AdminToken:  c.AdminToken,
		NobodyToken: c.NobodyToken,
		Kill:        func(context.Context) error { c.Kill(); return nil },
		Start:       c.StartAPIServer,
		Expire:      c.ExpireVersions,
		Protobuf:    protobuf,
	})
}

// protobufConfigMaps decodes ConfigMaps from protobuf, and returns them as JSON.
type protobufConfigMaps struct {
	codec.Protobuf[*corev1.ConfigMap]
}

func (c protobufConfigMaps) Decode(s *lw.Scanned) (*lw.Object, error) {
	object, err := c.Protobuf.Decode(s)
	if err != nil {
		return nil, err
	}
	object.Kind, object.APIVersion = "ConfigMap", "v1"
	text, err := json.Marshal(object)
	if err != nil {
		return nil, err
	}
	return lw.ParseObject(text)
}
