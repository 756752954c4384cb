// Package adapters is the root of a module with the packages clientgo and controllerruntime. With these packages, a
// program keeps its client-go or controller-runtime code, but uses listwatch's client and store.
package adapters
