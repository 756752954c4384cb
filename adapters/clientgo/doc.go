// Package clientgo gives client-go informers that use the engine and the store of listwatch.
//
// An informer keeps the bytes of each object. It decodes an object when a handler, an index function or a reader needs it. All
// readers share the struct and must not change it, as in client-go.
//
// [NewSharedInformerFactory] takes the place of client-go's factory, and needs only a rest.Config. [NewSharedIndexInformer] takes
// the place of client-go's constructor, and needs a ListerWatcher whose clientset was made with [WrapHTTPClient].
package clientgo
