package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	typedcore "k8s.io/client-go/kubernetes/typed/core/v1"
	toolscache "k8s.io/client-go/tools/cache"

	"github.com/seed-6d2a410a/listwatch/bench/internal/harness"
	"github.com/seed-6d2a410a/listwatch/bench/internal/kube"
	"github.com/seed-6d2a410a/listwatch/internal/testkit/published"
)

const (
	realPods  = 1000
	perSecond = 200 // maximum number of changes per second
	writers   = 4   // maximum number of concurrent requests
	measured  = 30 * time.Second
	settling  = 3 * time.Second // pause before the measurement, so that it excludes the start and the initial objects
)

// compareOnServer measures both caches on one kube-apiserver, over TLS and HTTP/2. It runs them at the same time, in two
// processes, so that both receive the same changes at the same rate. For [harness.Compare], the pair is one contender.
func compareOnServer(ctx context.Context) error {
	environment, err := kube.Start("..")
	if err != nil {
		return err
	}
	defer func() { _ = environment.Stop() }()
	pods := harness.MustGet(typedcore.NewForConfig(environment.Config)).Pods("default")
	names := kube.CreatePods(ctx, pods, realPods)
	ctx, cancel := context.WithCancelCause(ctx)
	var writing sync.WaitGroup
	defer writing.Wait()
	defer cancel(nil)
	writing.Go(func() { cancel(change(ctx, pods, names)) })
	t := task{Kubeconfig: string(environment.KubeConfig)}
	found, err := harness.Compare(*rounds, []string{"both"}, func(string) (harness.Figures, error) {
		var ours, theirs harness.Figures
		var running sync.WaitGroup
		var failed error
		running.Go(func() { failed = harness.Run(ctx, "real", t, &theirs) })
		err := harness.Run(ctx, "real", task{Kubeconfig: t.Kubeconfig, Listwatch: true}, &ours)
		running.Wait()
		if err := errors.Join(err, failed); err != nil {
			return nil, errors.Join(err, context.Cause(ctx)) // a failed writer ends both processes
		}
		return harness.Figures{listwatchName: ours["CPU time"], clientGoName: theirs["CPU time"], "events": ours["events"]}, nil
	})
	if err != nil {
		return err
	}
	ours, theirs := harness.Median(found.Get(listwatchName, "both")), harness.Median(found.Get(clientGoName, "both"))
	results := published.Results{}
	results.Set("CPU time", listwatchName, ours)
	results.Set("CPU time", clientGoName, theirs)
	results.Set("CPU time", "ratio", ours/theirs)
	results.Set("events per second", listwatchName, harness.Median(found.Get("events", "both")))
	return harness.Save("apiserver", results)
}

// change updates one Pod after another until ctx is done or a request fails. It sends fewer than perSecond requests per
// second if the server is too slow for them. It returns the error of the first request that failed.
func change(ctx context.Context, pods typedcore.PodInterface, names []string) error {
	ticks := time.NewTicker(time.Second / perSecond)
	defer ticks.Stop()
	running, ctx := errgroup.WithContext(ctx)
	running.SetLimit(writers)
	for n := 0; ctx.Err() == nil; n++ {
		<-ticks.C
		running.Go(func() error {
			patch := fmt.Appendf(nil, `{"status":{"message":"change %d"}}`, n)
			_, err := pods.Patch(ctx, names[n%len(names)], types.MergePatchType, patch, metav1.PatchOptions{}, "status")
			return err
		})
	}
	return running.Wait()
}

// measureReal counts the update events that a cache receives, and measures the CPU time per event in µs.
func measureReal(t task) harness.Figures {
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
	events, used := float64(received.Load()-first), harness.CPUTime()-began
	return harness.Figures{"CPU time": float64(used.Nanoseconds()) / 1e3 / events, "events": events / measured.Seconds()}
}
