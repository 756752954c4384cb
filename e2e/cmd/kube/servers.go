package main

import (
	"strings"

	"go.etcd.io/etcd/api/v3/version"
	"go.etcd.io/etcd/server/v3/etcdmain"

	// These imports register metrics and log formats, like in the real kube-apiserver command.
	_ "k8s.io/component-base/logs/json/register"
	_ "k8s.io/component-base/metrics/prometheus/clientgo"
	_ "k8s.io/component-base/metrics/prometheus/version"

	"k8s.io/kubernetes/cmd/kube-apiserver/app"
)

// runEtcd runs etcd with its own flags until SIGTERM or SIGINT. It turns off fsync, because fsync makes writes slow and
// test data need not survive a power failure. etcd reports its revision to idle watches every 5 seconds, as in
// Kubernetes clusters, because longer intervals would delay the API server's bookmarks.
func runEtcd(args []string) {
	progress := "--watch-progress-notify-interval=5s"
	if strings.HasPrefix(version.Version, "3.5.") { // the version that Kubernetes used before 1.34
		progress = "--experimental-watch-progress-notify-interval=5s"
	}
	etcdmain.Main(append([]string{"etcd", "--unsafe-no-fsync", progress, "--log-level=warn"}, args...))
}

// runAPIServer runs kube-apiserver with its own flags until SIGTERM or SIGINT.
func runAPIServer(args []string) error {
	cmd := app.NewAPIServerCommand()
	cmd.SetArgs(args)
	cmd.SilenceErrors = true // main prints the error
	return cmd.Execute()
}
