// Package playback gives this module access to internal methods of lwtest.Server.
package playback

// Server contains the internal methods of an lwtest.Server. resource and obj have the same meaning as in
// lwtest.Server.Create.
type Server interface {
	// Play stores an object from another server with its uid, timestamps and resourceVersion. It replaces an object
	// with the same name. If the resourceVersion is not a number above the server's revision, the object gets the next
	// revision.
	Play(resource string, obj any) error

	// PlayTo increases the server's revision to resourceVersion without a write. It ignores a resourceVersion that is
	// lower or not a number.
	PlayTo(resourceVersion string)

	// CompressStreamingLists compresses streaming lists for clients that accept gzip. Like Kubernetes 1.37, the server
	// writes a separate gzip member for each flush. Chromium reads only the first member and reports no error.
	CompressStreamingLists()
}

// Of returns the internal methods of an *lwtest.Server. Package lwtest sets this variable.
var Of func(server any) Server
