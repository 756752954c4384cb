// Package adapters is the root of a module with two packages: clientgo and controllerruntime. They let programs keep their
// code for client-go or controller-runtime, and use the engine and the store of listwatch.
package adapters
