// Package conformance runs the test suites of controller-runtime with the cache of package controllerruntime. Its test
// copies the source of controller-runtime from the module cache, and changes the constructor of the cache in the copy.
// Each spec that passes with client-go's informers must pass with informers of listwatch.
package conformance
