// Package controllerruntime provides a cache for controller-runtime that uses listwatch's informers. An operator
// sets its manager's NewCache option:
//
//	import listwatch "github.com/seed-6d2a410a/listwatch/adapters/controllerruntime"
//
//	mgr, err := ctrl.NewManager(config, ctrl.Options{NewCache: listwatch.NewCache})
//
// Namespaces, selectors, field indexes and transforms work as in controller-runtime, and so do metadata-only and
// unstructured objects. The cache stores each object in encoded form and decodes it when a caller reads it.
//
// Watches always request bookmarks, even if EnableWatchBookmarks is false. Warnings in responses to lists and watches
// do not reach the WarningHandler of the rest.Config. docs/drop-in.md lists the other differences.
package controllerruntime
