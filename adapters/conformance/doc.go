// Package conformance runs the test suites of controller-runtime with the cache of package controllerruntime. Its test copies the
// source of controller-runtime from the module cache, changes the constructor of the cache, and compares the specs that pass
// with those that pass without the change.
package conformance
