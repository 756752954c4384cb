package clientgo

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr/funcr"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"

	"github.com/seed-6d2a410a/listwatch/lw"
	"github.com/seed-6d2a410a/listwatch/lwtest"
)

// Each log line must name the collection, its selector and the Go type. Failures that client-go logs as errors must
// be errors here, too. Normal interruptions must not.
func TestLog(t *testing.T) {
	server := startServer(t)
	server.Fail(lwtest.Lists, 1, lwtest.Refuse(&lw.StatusError{Code: 403, Reason: "Forbidden", Message: "not you"}))
	server.Fail(func(r lwtest.Request) bool { return r.URL.Query().Has("sendInitialEvents") }, -1, lwtest.Refuse(&lw.StatusError{Code: 422, Message: "no streaming lists"}))
	factory, err := NewSharedInformerFactory(&rest.Config{Host: server.URL}, 0, &FactoryOptions{
		Namespace: "shop", TweakListOptions: func(o *metav1.ListOptions) { o.LabelSelector = "app=web" },
	})
	require.NoError(t, err)
	informer := factory.InformerFor(&corev1.Pod{}, nil)
	var mu sync.Mutex
	var lines []string
	logger := funcr.New(func(_, line string) {
		mu.Lock()
		defer mu.Unlock()
		lines = append(lines, line)
	}, funcr.Options{})
	ctx, stop := context.WithCancel(klog.NewContext(t.Context(), logger))
	var running sync.WaitGroup
	running.Go(func() { informer.RunWithContext(ctx) })
	t.Cleanup(func() {
		if t.Failed() {
			t.Log(strings.Join(lines, "\n"))
		}
	})
	defer running.Wait()
	defer stop()
	logged := func(parts ...string) {
		t.Helper()
		parts = append(parts, `"type"="*v1.Pod"`, `"collection"="/api/v1/namespaces/shop/pods?labelSelector=app%3Dweb"`)
		require.Eventually(t, func() bool {
			mu.Lock()
			defer mu.Unlock()
			for _, line := range lines {
				found := 0
				for _, part := range parts {
					if strings.Contains(line, part) {
						found++
					}
				}
				if found == len(parts) {
					return true
				}
			}
			return false
		}, time.Minute, time.Millisecond, parts)
	}
	logged(`"error"="failed to list *v1.Pod: not you"`)
	waitSynced(t, informer.HasSyncedChecker())
	server.Fail(lwtest.Watches, 1, lwtest.Refuse(&lw.StatusError{Code: 410, Reason: "Expired"}))
	server.CloseWatches()
	logged(`"level"=0`, "410 Expired")
}
