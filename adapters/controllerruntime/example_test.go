package controllerruntime_test

import (
	"log"

	"sigs.k8s.io/controller-runtime/pkg/client/config"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/manager/signals"

	listwatch "github.com/seed-6d2a410a/listwatch/adapters/controllerruntime"
)

func ExampleNewCache() {
	mgr, err := manager.New(config.GetConfigOrDie(), manager.Options{NewCache: listwatch.NewCache})
	if err != nil {
		log.Fatal(err)
	}
	// Register the controllers with mgr here.
	if err := mgr.Start(signals.SetupSignalHandler()); err != nil {
		log.Fatal(err)
	}
}

// The cache saves its objects to a folder, so that a restarted manager resumes without a list.
func ExampleOptions_NewCache() {
	newCache := listwatch.Options{DropManagedFields: true, StateDir: "/var/lib/operator/state"}.NewCache
	mgr, err := manager.New(config.GetConfigOrDie(), manager.Options{NewCache: newCache})
	if err != nil {
		log.Fatal(err)
	}
	// Register the controllers with mgr here.
	if err := mgr.Start(signals.SetupSignalHandler()); err != nil {
		log.Fatal(err)
	}
}

// Reads from the manager's client wait until the cache contains the client's earlier writes.
func ExampleReadYourWrites() {
	mgr, err := manager.New(config.GetConfigOrDie(), manager.Options{
		NewCache:  listwatch.NewCache,
		NewClient: listwatch.ReadYourWrites{}.NewClient,
	})
	if err != nil {
		log.Fatal(err)
	}
	// Register the controllers with mgr here.
	if err := mgr.Start(signals.SetupSignalHandler()); err != nil {
		log.Fatal(err)
	}
}
