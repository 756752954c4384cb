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

func TestRealServer(t *testing.T) { runScenarios(t, shared.Get(t), protobufConfigMaps{}) }

// Without a watch cache, a server splits lists at resourceVersion "0" into pages, and its resourceVersions expire
// when etcd is compacted.
func TestWithoutWatchCache(t *testing.T) {
	t.Parallel() // this test uses its own cluster and mostly waits
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

// protobufConfigMaps is a codec that decodes ConfigMaps from protobuf and converts them to lw.Object values.
type protobufConfigMaps struct{}

func (c protobufConfigMaps) Decode(s *lw.Scanned) (*lw.Object, error) {
	object, err := codec.Protobuf[*corev1.ConfigMap]().Decode(s)
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

func (protobufConfigMaps) Identity() lw.Identity[*lw.Object] {
	return lw.Identity[*lw.Object]{UID: (*lw.Object).GetUID, Equal: (*lw.Object).Equal}
}
