// Package clientgo provides client-go informers that use the engine and the store of listwatch.
//
// An informer stores the JSON or protobuf of each object. It decodes an object when a handler, an index function or a
// reader needs it. All readers share the decoded object and must not change it, as in client-go.
//
// [NewSharedInformerFactory] replaces client-go's informer factory. [NewSharedIndexInformer] replaces client-go's
// informer constructor. The ListerWatcher of such an informer must use a clientset with an HTTP client from
// [WrapHTTPClient].
package clientgo
