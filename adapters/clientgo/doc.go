// Package clientgo provides client-go informers that use the engine and the store of listwatch.
//
// An informer stores the JSON or protobuf of each object. It decodes an object when a handler, an index function or a
// reader needs it. All readers share the decoded object and must not change it, as in client-go.
//
// [NewSharedInformerFactory] replaces client-go's factory. [NewSharedIndexInformer] replaces client-go's constructor.
// It needs a ListerWatcher whose clientset uses an HTTP client from [WrapHTTPClient].
package clientgo
