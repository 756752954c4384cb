// Package listwatch implements a small version of kube-state-metrics with listwatch. Package clientgo implements the
// same exporter with client-go.
package listwatch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"

	"github.com/seed-6d2a410a/listwatch/cache"
	"github.com/seed-6d2a410a/listwatch/lw"
)

// Run serves /metrics and /readyz until ctx is done. It returns when all goroutines have ended.
func Run(ctx context.Context, transport lw.Transport, listener net.Listener) error {
	fields, err := lw.Project("spec.nodeName", "status.phase", "status.containerStatuses")
	if err != nil {
		return err
	}
	client, err := lw.NewClient(transport, lw.Pods(""), fields, nil)
	if err != nil {
		return err
	}
	reflector := cache.NewReflector(client, nil)
	pods := reflector.Store()
	mux := http.NewServeMux()
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) {
		if state := reflector.State(); state.Phase != lw.Live {
			http.Error(w, "the Pods are "+state.Phase.String(), http.StatusServiceUnavailable)
		}
	})
	mux.HandleFunc("GET /metrics", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; version=0.0.4")
		write(w, pods.Snapshot())
	})
	server := &http.Server{Handler: mux}
	ctx, cancel := context.WithCancelCause(ctx)
	go func() { cancel(server.Serve(listener)) }()
	err = reflector.Run(ctx)
	return errors.Join(err, server.Shutdown(context.Background()))
}

type group struct{ namespace, node, phase string }

func write(w io.Writer, pods *cache.Snapshot[*lw.Object]) {
	counts := map[group]int{}
	var lines []string
	for pod := range pods.All() {
		counts[group{pod.GetNamespace(), pod.Get("spec.nodeName").String(), pod.Get("status.phase").String()}]++
		for container := range pod.Get("status.containerStatuses").Elements() {
			lines = append(lines, fmt.Sprintf("pod_container_restarts_total{namespace=%q,pod=%q,container=%q} %d",
				pod.GetNamespace(), pod.GetName(), container.Get("name"), container.Get("restartCount").Int()))
		}
	}
	for group, n := range counts {
		lines = append(lines, fmt.Sprintf("pods{namespace=%q,node=%q,phase=%q} %d",
			group.namespace, group.node, group.phase, n))
	}
	slices.Sort(lines)
	for _, line := range lines {
		fmt.Fprintln(w, line)
	}
}
