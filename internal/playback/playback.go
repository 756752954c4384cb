// Package playback provides methods of lwtest.Server that only this module uses.
package playback

// Server is the internal interface of an lwtest.Server. Play and PlayDelete have the same parameters and errors as
// lwtest.Server.Create.
type Server interface {
	// Play writes an object from another server with its uid, timestamps and resourceVersion. It replaces an object of
	// the same name. If the resourceVersion is not a number above the server's revision, the object gets the next
	// revision.
	Play(resource string, obj any) error

	// PlayTo increases the server's revision to a resourceVersion without a write. It ignores a resourceVersion that is
	// lower or not a number.
	PlayTo(resourceVersion string)

	// CompressStreamingLists compresses streaming lists for clients that accept gzip. Like Kubernetes 1.37, the server
	// sends each flush as a gzip member. Chromium reads only the first member and reports no error.
	CompressStreamingLists()
}

// Of returns the internal interface of an *lwtest.Server. Package lwtest sets this variable.
var Of func(server any) Server
