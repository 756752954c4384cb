package main

import (
	"context"
	"time"

	certificates "github.com/cert-manager/cert-manager/pkg/apis/certmanager/v1"
	"github.com/cert-manager/cert-manager/pkg/controller/cainjector"
	corev1 "k8s.io/api/core/v1"
	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgo "k8s.io/client-go/kubernetes/scheme"
	apiservices "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"

	listwatch "github.com/seed-6d2a410a/listwatch/adapters/controllerruntime"
	"github.com/seed-6d2a410a/listwatch/bench/internal/harness"
)

// limit is the maximum time until cainjector has written all CAs.
const limit = 2 * time.Minute

// task describes one run of cainjector.
type task struct {
	Kubeconfig string
	Listwatch  bool
	After      time.Duration // time that cainjector keeps running after it has written all CAs
}

// scheme returns a scheme with the types that cainjector and the benchmark need.
func scheme() *runtime.Scheme {
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		clientgo.AddToScheme, certificates.AddToScheme, apiextensions.AddToScheme, apiservices.AddToScheme,
	} {
		harness.Must(add(s))
	}
	return s
}

// run runs cainjector until its work is complete and t.After has passed. It returns the measurements of this process.
func run(t task) (r result) {
	ctx := context.Background()

	config := connect(t.Kubeconfig)
	config.UserAgent = "cert-manager-cainjector/v1.21.2" // the part before the slash becomes cainjector's field manager
	c := harness.MustGet(newCluster(config))
	stop := sampling(&r.Samples)
	began, cpu := time.Now(), harness.CPUTime()
	mgr := harness.MustGet(ctrl.NewManager(config, t.options()))
	harness.Must(cainjector.RegisterAllInjectors(ctx, mgr, cainjector.SetupOptions{
		EnableCertificatesDataSource: true,
		EnabledReconcilersFor: map[string]bool{
			cainjector.MutatingWebhookConfigurationName: true, cainjector.ValidatingWebhookConfigurationName: true,
			cainjector.APIServiceName: true, cainjector.CustomResourceDefinitionName: true,
		},
	}))
	go func() { harness.Must(mgr.Start(ctx)) }()
	for !harness.MustGet(c.injected(ctx)) {
		if time.Since(began) > limit {
			panic("cainjector did not write all CAs in time")
		}
		time.Sleep(100 * time.Millisecond)
	}
	r.Done = time.Since(began).Seconds()
	time.Sleep(t.After)
	r.CPU = (harness.CPUTime() - cpu).Seconds()
	r.PeakRSS = harness.PeakRSS()
	stop()
	r.RSS = r.Samples[len(r.Samples)-1].RSS
	r.Heap = harness.Heap()
	return r
}

// options returns the manager options of cert-manager's own main function, with the cache under test.
func (t task) options() ctrl.Options {
	options := ctrl.Options{
		Scheme:  scheme(),
		Metrics: server.Options{BindAddress: "0"},
		Cache:   cache.Options{ReaderFailOnMissingInformer: true},
		Client:  client.Options{Cache: &client.CacheOptions{DisableFor: []client.Object{&corev1.Secret{}}}},
	}
	if t.Listwatch {
		options.NewCache = listwatch.NewCache
	}
	return options
}
