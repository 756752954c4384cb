// Package controllerruntime provides a cache for controller-runtime that uses informers of listwatch. One line changes
// in an operator:
//
//	import listwatch "github.com/seed-6d2a410a/listwatch/adapters/controllerruntime"
//
//	mgr, err := ctrl.NewManager(config, ctrl.Options{NewCache: listwatch.NewCache})
//
// Namespaces, selectors, field indexes, transforms, metadata-only and unstructured objects work as in
// controller-runtime. The cache stores the bytes of each object and decodes the object when a caller reads it.
package controllerruntime
