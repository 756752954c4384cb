package main

import (
	// Metrics and log formats are registered by these imports, as in the
	// server's own command.
	_ "k8s.io/component-base/logs/json/register"
	_ "k8s.io/component-base/metrics/prometheus/clientgo"
	_ "k8s.io/component-base/metrics/prometheus/version"

	"k8s.io/kubernetes/cmd/kube-apiserver/app"
)

// runAPIServer runs the API server with its own flags until SIGTERM or SIGINT.
func runAPIServer(args []string) error {
	cmd := app.NewAPIServerCommand()
	cmd.SetArgs(args)
	cmd.SilenceErrors = true // main prints the error
	return cmd.Execute()
}
