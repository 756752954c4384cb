package controllerruntime

import (
	"net"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/cache"

	"github.com/seed-6d2a410a/listwatch/lwtest"
)

// TestFollowsRebuiltServer closes a server and starts another one on the same port. Its objects have the same
// resourceVersions as before. One of them has the same name, but another UID.
func TestFollowsRebuiltServer(t *testing.T) {
	old, rebuilt := startServer(t), startServer(t)
	put(t, old, "a", "web:1")
	put(t, old, "b", "web:1")
	put(t, rebuilt, "a", "web:1")
	put(t, rebuilt, "c", "web:1")
	c := startCache(t, old, cache.Options{})
	uids := func() (uids []string) {
		var pods corev1.PodList
		require.NoError(t, c.List(t.Context(), &pods))
		for _, pod := range pods.Items {
			uids = append(uids, pod.Name+" "+string(pod.UID))
		}
		slices.Sort(uids)
		return uids
	}
	require.Equal(t, uidsOf(old), uids())
	eventually(t, func() bool { return len(old.Open(lwtest.Watches)) > 0 })
	old.Close()
	serveAt(t, rebuilt, old)
	eventually(t, func() bool { return slices.Equal(uidsOf(rebuilt), uids()) })
}

func uidsOf(server *lwtest.Server) (uids []string) {
	_, pods := server.State("pods")
	for _, pod := range pods {
		uids = append(uids, pod.GetName()+" "+pod.GetUID())
	}
	slices.Sort(uids)
	return uids
}

// serveAt makes a server's API also available at the address of a closed server.
func serveAt(t *testing.T, server, closed *lwtest.Server) {
	var listener net.Listener
	eventually(t, func() (ok bool) { // a client's ephemeral port can block the address briefly
		var err error
		listener, err = net.Listen("tcp", strings.TrimPrefix(closed.URL, "http://"))
		return err == nil
	})
	front := httptest.NewUnstartedServer(server)
	require.NoError(t, front.Listener.Close())
	front.Listener = listener
	front.Start()
	t.Cleanup(func() {
		front.CloseClientConnections()
		front.Close()
	})
}

func eventually(t *testing.T, condition func() bool) {
	require.Eventually(t, condition, time.Minute, 5*time.Millisecond)
}
