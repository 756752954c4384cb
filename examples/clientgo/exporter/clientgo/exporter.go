// Package clientgo implements a small version of kube-state-metrics with client-go. Package listwatch implements the
// same exporter with listwatch.
package clientgo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
)

// Run serves /metrics and /readyz until ctx is done. It returns when all goroutines have ended.
func Run(ctx context.Context, clientset kubernetes.Interface, listener net.Listener) error {
	factory := informers.NewSharedInformerFactory(clientset, 0)
	informer := factory.Core().V1().Pods()
	synced, lister := informer.Informer().HasSynced, informer.Lister()
	mux := http.NewServeMux()
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) {
		if !synced() {
			http.Error(w, "the first list is not complete yet", http.StatusServiceUnavailable)
		}
	})
	mux.HandleFunc("GET /metrics", func(w http.ResponseWriter, _ *http.Request) {
		pods, err := lister.List(labels.Everything())
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "text/plain; version=0.0.4")
		write(w, pods)
	})
	server := &http.Server{Handler: mux}
	ctx, cancel := context.WithCancelCause(ctx)
	go func() { cancel(server.Serve(listener)) }()
	factory.StartWithContext(ctx)
	<-ctx.Done()
	factory.Shutdown()
	return errors.Join(context.Cause(ctx), server.Shutdown(context.Background()))
}

type group struct{ namespace, node, phase string }

func write(w io.Writer, pods []*corev1.Pod) {
	counts := map[group]int{}
	var lines []string
	for _, pod := range pods {
		counts[group{pod.Namespace, pod.Spec.NodeName, string(pod.Status.Phase)}]++
		for _, container := range pod.Status.ContainerStatuses {
			lines = append(lines, fmt.Sprintf("pod_container_restarts_total{namespace=%q,pod=%q,container=%q} %d",
				pod.Namespace, pod.Name, container.Name, container.RestartCount))
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
