// Package controllerruntime provides a cache for controller-runtime that uses listwatch's informers. An operator
// sets its manager's NewCache option:
//
//	import listwatch "github.com/seed-6d2a410a/listwatch/adapters/controllerruntime"
//
//	mgr, err := ctrl.NewManager(config, ctrl.Options{NewCache: listwatch.NewCache})
//
// Namespaces, selectors, field indexes, transforms, metadata-only and unstructured objects work as in
// controller-runtime. The cache stores each object in encoded form and decodes it when a caller reads it.
package controllerruntime
