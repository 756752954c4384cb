package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/seed-6d2a410a/listwatch/bench/internal/harness"
	"github.com/seed-6d2a410a/listwatch/internal/testkit/kubeassets"
	"github.com/seed-6d2a410a/listwatch/internal/testkit/published"
	"github.com/seed-6d2a410a/listwatch/internal/testkit/sample"
)

const (
	realPods  = 1000
	perSecond = 200 // changes per second
	writers   = 4   // maximum number of concurrent requests
	measured  = 30 * time.Second
	settling  = 3 * time.Second
	realGoal  = 0.65
)

// compareOnServer measures both caches at the same time on one kube-apiserver, over TLS and HTTP/2.
func compareOnServer(ctx context.Context) error {
	environment, err := startKube()
	if err != nil {
		return err
	}
	defer func() { _ = environment.Stop() }()
	config := rest.CopyConfig(environment.Config)
	config.QPS = -1
	clientset, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	pods, err := createPods(ctx, clientset)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	var writing sync.WaitGroup
	defer writing.Wait()
	defer cancel(nil)
	writing.Go(func() { cancel(change(ctx, clientset, pods)) })
	return measureOnServer(ctx, string(environment.KubeConfig))
}

// startKube starts etcd and a kube-apiserver. The working directory must be bench.
func startKube() (*envtest.Environment, error) {
	folder, err := os.MkdirTemp("", "dropin")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(folder) }()
	if err := kubeassets.Write("..", folder); err != nil {
		return nil, err
	}
	environment := &envtest.Environment{BinaryAssetsDirectory: folder}
	_, err = environment.Start()
	return environment, err
}

// measureOnServer measures both caches at the same time, each in its own process. It prints the medians of all rounds.
func measureOnServer(ctx context.Context, kubeconfig string) error {
	both := []*contender{{listwatch: true}, {}}
	for round := range *rounds {
		fmt.Fprintf(os.Stderr, "round %d of %d\n", round+1, *rounds)
		results, errs := make([]result, len(both)), make([]error, len(both))
		var running sync.WaitGroup
		for i, c := range both {
			running.Go(func() {
				errs[i] = harness.Run(ctx, "real", task{Kubeconfig: kubeconfig, Listwatch: c.listwatch}, &results[i])
			})
		}
		running.Wait()
		for i, c := range both {
			if errs[i] != nil {
				return fmt.Errorf("measurement with listwatch=%t failed: %w (%w)", c.listwatch, errs[i], context.Cause(ctx))
			}
			c.results = append(c.results, results[i])
		}
	}
	perEvent := func(r result) float64 { return r.PerEvent / 1e3 }
	ours, theirs := harness.MedianOf(both[0].results, perEvent), harness.MedianOf(both[1].results, perEvent)
	rows := harness.NewTable(os.Stdout, "kube-apiserver, TLS, HTTP/2\tlistwatch\tclient-go\tratio\tgoal")
	rows.Row("CPU per event, µs\t%.1f\t%.1f\t%.2f\t%s", ours, theirs, ours/theirs, target(ours/theirs, realGoal))
	events := func(r result) float64 { return r.Events / measured.Seconds() }
	perSecond := harness.MedianOf(both[0].results, events)
	rows.Row("events per second\t%.1f\t%.1f", perSecond, harness.MedianOf(both[1].results, events))
	if err := rows.Flush(); err != nil {
		return err
	}
	results := published.Results{}
	results.Set("CPU time", "listwatch", ours)
	results.Set("CPU time", "client-go", theirs)
	results.Set("CPU time", "ratio", ours/theirs)
	results.Set("events per second", "listwatch", perSecond)
	return harness.Save("apiserver", results)
}

// createPods creates Pods and returns their keys.
func createPods(ctx context.Context, clientset kubernetes.Interface) (keys []types.NamespacedName, err error) {
	for _, of := range sample.Pods(seed, realPods) {
		var pod corev1.Pod
		if err := json.Unmarshal([]byte(of.JSON()), &pod); err != nil {
			return nil, err
		}
		namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: pod.Namespace}}
		if _, err := clientset.CoreV1().Namespaces().Create(ctx, namespace, metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
			return nil, err
		}
		status := pod.Status
		pod.ResourceVersion, pod.UID, pod.ManagedFields = "", "", nil
		made, err := clientset.CoreV1().Pods(pod.Namespace).Create(ctx, &pod, metav1.CreateOptions{})
		if err != nil {
			return nil, err
		}
		made.Status = status
		if _, err := clientset.CoreV1().Pods(pod.Namespace).UpdateStatus(ctx, made, metav1.UpdateOptions{}); err != nil {
			return nil, err
		}
		keys = append(keys, types.NamespacedName{Namespace: pod.Namespace, Name: pod.Name})
	}
	return keys, nil
}

// change sends perSecond updates per second, one to each Pod in turn. It returns the first error, or the error of ctx
// when ctx is done.
func change(ctx context.Context, clientset kubernetes.Interface, pods []types.NamespacedName) error {
	ticks := time.NewTicker(time.Second / perSecond)
	defer ticks.Stop()
	failed := make(chan error, 1)
	places := make(chan struct{}, writers)
	for n := 0; ; n++ {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case err := <-failed:
			return err
		case <-ticks.C:
		}
		places <- struct{}{}
		go func() {
			defer func() { <-places }()
			pod, patch := pods[n%len(pods)], fmt.Appendf(nil, `{"status":{"message":"change %d"}}`, n)
			_, err := clientset.CoreV1().Pods(pod.Namespace).Patch(ctx, pod.Name, types.MergePatchType, patch, metav1.PatchOptions{}, "status")
			if err != nil {
				select {
				case failed <- err:
				default: // the channel already contains an error
				}
			}
		}()
	}
}

// measureReal counts the update events that a cache receives and measures the CPU time per event.
func measureReal(t task) (r result) {
	ctx := context.Background()
	c := t.start(ctx)
	object, _ := t.objects()
	informer := harness.MustGet(c.GetInformer(ctx, object))
	var received atomic.Int64
	harness.MustGet(informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{
		UpdateFunc: func(_, _ any) { received.Add(1) },
	}))
	time.Sleep(settling)
	first, began := received.Load(), harness.CPUTime()
	time.Sleep(measured)
	r.Events = float64(received.Load() - first)
	r.PerEvent = float64(harness.CPUTime()-began) / r.Events
	return r
}

// config returns a rest.Config for t.Kubeconfig, or for t.URL if there is no kubeconfig.
func (t task) config() *rest.Config {
	if t.Kubeconfig == "" {
		return &rest.Config{Host: t.URL}
	}
	return harness.MustGet(clientcmd.RESTConfigFromKubeConfig([]byte(t.Kubeconfig)))
}
