package clients

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/rest"

	"github.com/seed-6d2a410a/listwatch/lwtest"
	lwhttp "github.com/seed-6d2a410a/listwatch/transport/http"
)

// connection contains the clients that the programs in docs/migration.md need.
type connection struct {
	transport *lwhttp.Transport
	clientset kubernetes.Interface
}

func connect(t *testing.T, url string) connection {
	transport, err := lwhttp.New(url, nil)
	require.NoError(t, err)
	t.Cleanup(transport.Close)
	config := &rest.Config{Host: url, QPS: -1}
	config.ContentType = "application/json" // lwtest only supports JSON
	clientset, err := kubernetes.NewForConfig(config)
	require.NoError(t, err)
	return connection{transport, clientset}
}

func startServer(t *testing.T) *lwtest.Server {
	server, err := lwtest.Start(nil)
	require.NoError(t, err)
	t.Cleanup(server.Close)
	return server
}

func edit(t *testing.T, server *lwtest.Server, resource, key string, change func(object map[string]any)) {
	t.Helper()
	_, objects := server.State(resource)
	var object map[string]any
	require.NoError(t, json.Unmarshal([]byte(objects[key].Raw()), &object))
	delete(object["metadata"].(map[string]any), "resourceVersion")
	change(object)
	_, err := server.Put(resource, object)
	require.NoError(t, err)
}

// outage stops the server, calls change, and restarts the server without its watch history.
func outage(t *testing.T, server *lwtest.Server, change func()) {
	t.Helper()
	server.Close()
	change()
	server.Compact()
	require.NoError(t, server.Restart())
}

func TestFakeClientsetIgnoresSelectors(t *testing.T) {
	deployments := fake.NewClientset().AppsV1().Deployments("shop")
	watch, err := deployments.Watch(t.Context(), metav1.ListOptions{LabelSelector: "app=web"})
	require.NoError(t, err)
	defer watch.Stop()
	_, err = deployments.Create(t.Context(), newDeployment("other", 1, nil), metav1.CreateOptions{})
	require.NoError(t, err)
	require.Equal(t, "other", (<-watch.ResultChan()).Object.(*appsv1.Deployment).Name)
}
