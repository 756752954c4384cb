// Package conformance runs controller-runtime's test suites with the cache from package controllerruntime. It
// replaces the cache's constructor in a copy of controller-runtime. Each spec that passes with client-go's
// informers must also pass with listwatch's.
package conformance
