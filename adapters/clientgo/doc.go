// Package clientgo provides client-go informers that are built on listwatch's client and store.
//
// An informer stores the JSON or protobuf of each object. It decodes an object when a handler, an index function or
// a reader needs it. As in client-go, all readers share the decoded object and must not change it.
//
// [NewSharedInformerFactory] replaces client-go's informer factory, and [NewSharedIndexInformer] replaces its
// informer constructor. The ListerWatcher passed to that constructor must use a clientset with an HTTP client from
// [WrapHTTPClient].
package clientgo
