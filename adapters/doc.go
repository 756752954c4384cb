// Package adapters is the root of a module with the packages clientgo and controllerruntime. With these packages,
// programs keep their code for client-go or controller-runtime, but use the engine and the store of listwatch.
package adapters
