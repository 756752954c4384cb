package main

import (
	"os"

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
	// etcd 3.6 has renamed the flag of the interval. Unlike an unknown flag, an unknown environment variable is no error.
	for _, name := range []string{"ETCD_WATCH_PROGRESS_NOTIFY_INTERVAL", "ETCD_EXPERIMENTAL_WATCH_PROGRESS_NOTIFY_INTERVAL"} {
		_ = os.Setenv(name, "5s") // fails only for invalid names
	}
	etcdmain.Main(append([]string{"etcd", "--unsafe-no-fsync", "--log-level=warn"}, args...))
}

// runAPIServer runs kube-apiserver with its own flags until SIGTERM or SIGINT.
func runAPIServer(args []string) error {
	cmd := app.NewAPIServerCommand()
	cmd.SetArgs(args)
	cmd.SilenceErrors = true // main prints the error
	return cmd.Execute()
}
