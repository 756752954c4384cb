// Package controllerruntime gives controller-runtime a cache whose informers are those of listwatch. One line changes in an
// operator:
//
//	import listwatch "github.com/seed-6d2a410a/listwatch/adapters/controllerruntime"
//
//	mgr, err := ctrl.NewManager(config, ctrl.Options{NewCache: listwatch.NewCache})
//
// Namespaces, selectors, field indexes, transforms, metadata-only and unstructured objects remain those of controller-runtime.
// The cache stores the bytes of each object and decodes an object when it is read.
package controllerruntime
