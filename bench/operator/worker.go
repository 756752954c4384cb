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
	"k8s.io/client-go/tools/clientcmd"
	apiservices "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"

	listwatch "github.com/seed-6d2a410a/listwatch/adapters/controllerruntime"
	"github.com/seed-6d2a410a/listwatch/bench/internal/harness"
)

// limit is how long cainjector may take to write all CAs.
const limit = 2 * time.Minute

// task describes one run of cainjector.
type task struct {
	Kubeconfig string
	Listwatch  bool
	After      time.Duration // how long cainjector keeps running after it has written all CAs
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

// run runs cainjector in this process until its work is complete and t.After has passed. It returns the measurements of
// this process.
func run(t task) (r result) {
	ctx := context.Background()
	config := harness.MustGet(clientcmd.RESTConfigFromKubeConfig([]byte(t.Kubeconfig)))
	config.QPS = -1
	config.UserAgent = "cert-manager-cainjector/v1.21.2"       // the part before the slash becomes cainjector's field manager
	c := harness.MustGet(client.New(config, client.Options{})) // reads from the server instead of the measured cache
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
	sampleRSS := func() { r.Samples = append(r.Samples, sample{time.Since(began).Seconds(), harness.RSS()}) }
	for ; !injected(ctx, c); time.Sleep(100 * time.Millisecond) {
		sampleRSS()
		if time.Since(began) > limit {
			panic("cainjector did not write all CAs in time")
		}
	}
	took := time.Since(began)
	for ; time.Since(began) < took+t.After; time.Sleep(100 * time.Millisecond) {
		sampleRSS()
	}
	r.Figures = harness.Figures{
		"time until all CAs are written, s": took.Seconds(),
		"CPU time, s":                       (harness.CPUTime() - cpu).Seconds(),
		"peak RSS, MB":                      harness.PeakRSS() / 1e6,
		"RSS at the end, MB":                harness.RSS() / 1e6,
	}
	r.Figures["heap at the end, MB"] = harness.Heap() / 1e6
	return r
}

// options returns the manager options from cert-manager's own main function, with the cache under test.
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

// result contains the measurements of one process.
type result struct {
	Figures harness.Figures
	Samples []sample
}

// sample contains the RSS in bytes and the time in seconds since the start.
type sample struct{ Seconds, RSS float64 }
