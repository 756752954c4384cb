package clients

import (
	"context"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/seed-6d2a410a/listwatch/examples/clientgo/controller/clientgo"
	"github.com/seed-6d2a410a/listwatch/examples/clientgo/controller/listwatch"
	"github.com/seed-6d2a410a/listwatch/lwtest"
)

// podControllers contains the implementations of the controller in docs/migration.md.
var podControllers = map[string]func(context.Context, connection) error{
	"clientgo":  func(ctx context.Context, c connection) error { return clientgo.Run(ctx, c.clientset) },
	"listwatch": func(ctx context.Context, c connection) error { return listwatch.Run(ctx, c.transport, c.clientset) },
}

func newDeployment(name string, replicas int32, labels map[string]string) *appsv1.Deployment {
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name, Labels: labels},
		Spec: appsv1.DeploymentSpec{
			Replicas: &replicas,
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}},
		},
	}
}

func scale(t *testing.T, server *lwtest.Server, replicas int) {
	edit(t, server, "deployments.apps", "shop/web", func(object map[string]any) {
		object["spec"].(map[string]any)["replicas"] = replicas
	})
}

func setPhase(t *testing.T, server *lwtest.Server, pod, phase string) {
	edit(t, server, "pods", pod, func(object map[string]any) { object["status"] = map[string]any{"phase": phase} })
}

// running returns a condition for eventually. The condition holds if the server has exactly the given Pods, and if the
// annotation of Deployment "web" contains number.
func running(server *lwtest.Server, number string, pods ...string) func() bool {
	return func() bool {
		_, objects := server.State("pods")
		_, deployments := server.State("deployments.apps")
		annotation := `"annotations":{"` + listwatch.Annotation + `":"` + number + `"}`
		return slices.Equal(slices.Sorted(maps.Keys(objects)), pods) &&
			strings.Contains(deployments["shop/web"].Raw(), annotation)
	}
}

func patches(r lwtest.Request) bool { return r.Verb == "patch" }

// TestController checks that both implementations create and delete the same Pods, even after rejected patches and an
// outage that requires a relist.
func TestController(t *testing.T) {
	for name, run := range podControllers {
		t.Run(name, func(t *testing.T) {
			t.Parallel() // this test mostly waits for client-go
			server := startServer(t)
			_, err := server.Put("deployments.apps", newDeployment("web", 2, map[string]string{listwatch.Label: "on"}))
			require.NoError(t, err)
			_, err = server.Put("deployments.apps", newDeployment("other", 2, nil))
			require.NoError(t, err)
			server.Fail(patches, 2, conflict)
			ctx, stop := context.WithCancel(t.Context())
			ended := make(chan error)
			go func() { ended <- run(ctx, connect(t, server.URL)) }()
			eventually(t, running(server, "0", "shop/web-0", "shop/web-1"))
			require.GreaterOrEqual(t, len(server.Requests(patches)), 3)

			server.Fail(patches, 1, conflict)
			setPhase(t, server, "shop/web-0", "Running")
			eventually(t, running(server, "1", "shop/web-0", "shop/web-1"))
			scale(t, server, 1)
			eventually(t, running(server, "1", "shop/web-0"))
			require.NoError(t, server.Delete("pods", "shop", "web-0"))
			eventually(t, running(server, "0", "shop/web-0"))
			outage(t, server, func() {
				setPhase(t, server, "shop/web-0", "Running")
				scale(t, server, 2)
			})
			eventually(t, running(server, "1", "shop/web-0", "shop/web-1"))

			stop()
			require.ErrorIs(t, <-ended, context.Canceled)
			eventually(t, func() bool { return len(server.Open(nil)) == 0 }) // waits until the server has noticed the closed watches
			requests := len(server.Requests(nil))
			scale(t, server, 3)
			require.Len(t, server.Requests(nil), requests, "Run must not send requests after it has returned")
		})
	}
}

// conflict is a fault for Server.Fail. It responds with 409.
func conflict(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
	http.Error(w, "the object has been modified", http.StatusConflict)
}
