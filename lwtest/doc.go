// Package lwtest provides a Kubernetes API server for tests and demos. The server runs inside the test process and
// behaves like kube-apiserver v1.37. It serves LIST, WATCH and writes over HTTP, and WATCH over WebSocket, too. It
// keeps a history with compaction, bookmarks and paging, and injects failures on request.
//
// # Use
//
// [Start] starts a server on a loopback port. Any HTTP client can use [Server.URL], for example a Go program, a browser
// or kubectl:
//
//	s, err := lwtest.Start(nil)
//	…
//	defer s.Close()
//	s.Put("pods", `{"metadata":{"name":"a","namespace":"t"}}`)
//	http.Get(s.URL + "/api/v1/namespaces/t/pods")
//	http.Get(s.URL + "/api/v1/pods?watch=1")
//
// The cluster is empty at first. It serves pods, nodes, namespaces, configmaps, secrets, services and events of the
// core group, and deployments of apps/v1. It also serves one custom resource, widgets of lw.example.com/v1. A
// CustomResourceDefinition adds more; see below. An object can be created in a namespace that does not exist.
//
// [Server.Put] and [Server.Delete] write without HTTP. [Server.State] returns the state that an up-to-date client must
// hold.
//
// A Server is an [http.Handler], so it can run behind TLS or a proxy. Web pages from the origins in
// [Options.AllowedOrigins] can use fetch. Their preflight requests need no token.
//
// # Custom resources
//
// Create a CustomResourceDefinition to add a resource, as in a real cluster. Its group, names, scope, storage version
// and printer columns take effect immediately. In lists of the resource, items come before metadata, and each item has
// kind and apiVersion. If the definition is deleted, the objects are deleted, their watches end, and the server answers
// later requests with 404. If the definition changes, the watches of the resource end and its objects remain.
//
// # WebSocket
//
// A watch request with an Upgrade header becomes a WebSocket. Each event is a TEXT message that ends with a newline.
// The watch ends with CLOSE 1000 and no reason. An ERROR event may precede the CLOSE frame. The Origin header is
// required, but any valid URL is allowed.
//
// A browser sends its token as a subprotocol, together with exactly one other subprotocol, which the server selects:
//
//	Sec-WebSocket-Protocol: base64url.bearer.authorization.k8s.io.TOKEN, v1.example
//
// TOKEN is base64url without padding. Most errors before the upgrade are normal HTTP responses with a Status. Two
// responses have neither headers nor a body: 403 for a missing or invalid Origin, and 400 for more than one subprotocol
// besides the token.
//
// # Failures
//
//   - [Server.Compact] expires all resourceVersions before the latest.
//   - [Server.CloseWatches] ends watches cleanly.
//   - [Server.StallWatches] keeps watches open but sends nothing.
//   - [Server.DropConnections] resets connections.
//   - [Server.Close] kills the server, and [Server.Restart] starts it again.
//   - [Server.Fail] makes the next matching requests fail.
//
// Fail takes a custom [Fault], or a predefined Fault: [Refuse], [Stall] or [Expire]. [ReplaceEvent] sends
// arbitrary data instead of an event, for example half of it. Over WebSocket, it can send a fragmented or binary
// message, a ping or a custom close code.
//
// [Server.Requests] returns the requests that the server received. [Server.Open] returns the requests that are still in
// progress.
//
// Over WebSocket, Close and DropConnections cut the connection without a CLOSE frame. CloseWatches sends CLOSE 1000.
//
// # Differences from a real server
//
//   - Bodies are JSON. Protobuf, YAML and CBOR are rejected with 415 or 406. The typed clientsets of client-go write
//     protobuf by default, so set ContentType to "application/json" in rest.Config.
//   - Tables and PartialObjectMetadata are supported. A Table has the name column and the printer columns of the
//     resource, without descriptions. The default column shows the age of the object.
//   - PATCH supports only JSON merge patch. There is no validation, defaulting or admission. The only subresource is
//     the binding of Pods.
//   - Only the storage version of a custom resource is served. A definition with an empty group replaces a resource of
//     the core group, for example to change the columns of Pods.
//   - DELETE takes effect immediately. There are no grace periods, finalizers, garbage collection or deletecollection.
//   - Field selectors support metadata.name and metadata.namespace, for Events also involvedObject.kind,
//     involvedObject.name and type, and for Pods also spec.nodeName and status.phase.
//   - In a built-in object, all keys after metadata are sorted. kube-apiserver writes them in the order of its Go
//     types.
//   - A WebSocket handshake without a key, or with a version other than 13, gets a 400 with a different message.
//   - Every request reads the latest state. A list with resourceVersion=0 never returns older data.
package lwtest
