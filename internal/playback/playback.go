// Package playback writes to an lwtest.Server in ways that only programs of this module need.
package playback

import "iter"

// Made is an object that the server does not hold. The server makes it each time it shows it.
type Made struct {
	Namespace, Name, UID string // those in its metadata
	// JSON returns the object in the form of a list: compact, without kind and apiVersion if the resource is built in. It must
	// return the same text each time. Many goroutines may call it. It must not use the server.
	JSON func(resourceVersion string) []byte
}

// Server is the playback of an lwtest.Server. Resources and objects are those of lwtest.Server.Create. Errors are those of its
// methods.
type Server interface {
	// Play writes an object of another server with its uid, its times and its resourceVersion, and replaces an object of the
	// same name. If the resourceVersion is not a number above the server's revision, the object gets the next one.
	Play(resource string, obj any) error

	// PlayDelete deletes an object. obj is its last state, with the resourceVersion of the deletion.
	PlayDelete(resource string, obj any) error

	// PlayTo moves the server's revision to a resourceVersion without a write. It ignores one that is not a number, or is lower.
	PlayTo(resourceVersion string)

	// PlayMade writes objects in order, each under its own resourceVersion, and holds only their names. The server holds an
	// object from its next write on. If one of the names exists, PlayMade writes nothing and returns AlreadyExists.
	PlayMade(resource string, objects iter.Seq[Made]) error

	// CompressStreamingLists compresses streaming lists for clients that accept gzip, like Kubernetes 1.37: each flush is a gzip
	// member. Chromium reads the first member and drops the others without an error.
	CompressStreamingLists()
}

// Of returns the playback of an *lwtest.Server. Package lwtest sets it.
var Of func(server any) Server
