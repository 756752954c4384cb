package main

import (
	// These imports register metrics and log formats, like in the real kube-apiserver command.
	_ "k8s.io/component-base/logs/json/register"
	_ "k8s.io/component-base/metrics/prometheus/clientgo"
	_ "k8s.io/component-base/metrics/prometheus/version"

	"k8s.io/kubernetes/cmd/kube-apiserver/app"
)

// runAPIServer runs kube-apiserver with its own flags until SIGTERM or SIGINT.
func runAPIServer(args []string) error {
	cmd := app.NewAPIServerCommand()
	cmd.SetArgs(args)
	cmd.SilenceErrors = true // main prints the error
	return cmd.Execute()
}
