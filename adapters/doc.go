// Package adapters is the root of a module with the packages clientgo and controllerruntime. They let programs keep
// their client-go or controller-runtime code, but use the engine and the store of listwatch.
package adapters
