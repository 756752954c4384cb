package main

import (
	"go.etcd.io/etcd/server/v3/etcdmain"

	// These imports register metrics and log formats, like in the real kube-apiserver command.
	_ "k8s.io/component-base/logs/json/register"
	_ "k8s.io/component-base/metrics/prometheus/clientgo"
	_ "k8s.io/component-base/metrics/prometheus/version"

	"k8s.io/kubernetes/cmd/kube-apiserver/app"
)

// runEtcd runs etcd with its own flags until SIGTERM or SIGINT. Test data does not need to survive a power failure, and
// fsync dominates the cost of a write. The interval is how often etcd reports its revision to an idle watch, which
// limits the lag of the API server's bookmarks. Kubernetes clusters use the same value.
func runEtcd(args []string) {
	etcdmain.Main(append([]string{"etcd", "--unsafe-no-fsync", "--watch-progress-notify-interval=5s", "--log-level=warn"}, args...))
}

// runAPIServer runs kube-apiserver with its own flags until SIGTERM or SIGINT.
func runAPIServer(args []string) error {
	cmd := app.NewAPIServerCommand()
	cmd.SetArgs(args)
	cmd.SilenceErrors = true // main prints the error
	return cmd.Execute()
}
