// Package lwtest is an embedded Kubernetes-like list-watch API server for tests and demos. It answers LIST, WATCH and writes
// over HTTP, and WATCH over WebSocket, the way kube-apiserver v1.36 does, keeps an honest revision log with compaction,
// bookmarks and paging, and fails on purpose when told to.
//
// # Use
//
// [Start] listens on loopback; any HTTP client can talk to [Server.URL], from Go, a browser or kubectl:
//
//	s, err := lwtest.Start(nil)
//	…
//	defer s.Close()
//	s.Create("pods", `{"metadata":{"name":"a","namespace":"t"}}`)
//	http.Get(s.URL + "/api/v1/namespaces/t/pods")
//	http.Get(s.URL + "/api/v1/pods?watch=1")
//
// The cluster begins empty. It has pods, nodes, namespaces, configmaps, secrets, services and events of the core group,
// deployments of apps/v1 and, as a custom resource, widgets of lw.example.com/v1. [Server.AddResource] adds others. Nothing
// checks that a namespace exists. [Server.Create], [Server.Put] and [Server.Delete] write without HTTP, and [Server.State]
// is what a client that has caught up must hold. [Server.Play] writes what another server has sent, under its own resource
// version, and [Server.PlayMade] very many objects, which it does not hold.
//
// A watch that asks for an upgrade becomes a WebSocket: each event is a TEXT message with its newline, and every end is a
// CLOSE 1000 without a reason, after an ERROR event if there is one. An Origin is required, whatever it is. A token may be a
// subprotocol beside exactly one other, which is then the chosen one:
//
//	Sec-WebSocket-Protocol: base64url.bearer.authorization.k8s.io.TOKEN, v1.example
//
// TOKEN is in base64url without padding. What is refused before the upgrade is an ordinary answer with a Status; a missing
// Origin (403) and more than one subprotocol (400) are refused without a header or a body.
//
// Pages of [Options.AllowedOrigins] may ask over fetch; preflights are answered without a token.
//
// A Server is an [http.Handler]: put it behind TLS or a proxy as you like.
//
// # Failing on purpose
//
// [Server.Compact] makes old resource versions too old, [Server.CloseWatches] ends watches without a reason,
// [Server.StallWatches] silences them, [Server.DropConnections] resets connections, [Server.Stop] and [Server.Restart] are
// kill -9 and what comes after it. [Server.Fail] makes the next requests of a kind fail in one of the ready ways ([Refuse],
// [Gone], [TooManyRequests], [LoginPage], [Stall], [HangUp], [Truncate], [Garbage]) or in one of your own. [ReplaceFrame]
// makes a WebSocket say anything: a message in fragments, binary or too long, a ping, a code of your own. [Server.Requests]
// shows what a client asked for, and [Server.Open] what of it is not answered to the end.
//
// Over WebSocket, Stop and DropConnections cut the connection without a CLOSE frame, and CloseWatches is the clean end.
//
// # What is different from a real server
//
//   - Bodies are JSON. The server refuses protobuf, YAML and CBOR with 415 or 406. A typed clientset of client-go writes
//     protobuf by default, so set ContentType to "application/json" in its rest.Config.
//   - PartialObjectMetadata and Table are served. The columns of a Table are the name and those of its [Resource], by default
//     the age, without descriptions.
//   - PATCH takes JSON merge patches only. Objects are not validated, defaulted or admitted. The one subresource is the
//     binding of Pods.
//   - DELETE takes effect at once: no grace period, no finalizers, no garbage collection, no deletion of collections.
//   - Field selectors know metadata.name and metadata.namespace.
//   - The keys of built-in objects below metadata are sorted.
//   - A WebSocket handshake without a key, or of another version than 13, gets the same 400 as from a real server, with
//     another text.
//   - All requests see the latest state; resourceVersion=0 never gives an old one.
package lwtest
