// Package conformance runs the test suites of controller-runtime with the cache of package controllerruntime. Its test
// replaces the constructor of the cache in a copy of controller-runtime. Each spec that passes with client-go's
// informers must pass with informers of listwatch.
package conformance
