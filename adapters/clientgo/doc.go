// Package clientgo gives client-go informers that use the engine and the store of listwatch.
//
// An informer keeps the bytes of each object. It decodes an object when a handler, an index function or a reader needs it. All
// readers share the struct and must not change it, as in client-go.
//
// [NewSharedInformerFactory] takes the place of client-go's factory. [NewSharedIndexInformer] takes the place of client-go's
// constructor. It needs a ListerWatcher whose clientset uses an HTTP client from [WrapHTTPClient].
package clientgo
