// Package invalid has the causes of lw.ErrInvalidResponse. Logs and tests tell them apart.
package invalid

import "errors"

// ErrResponse is lw.ErrInvalidResponse. All other errors of this package wrap it.
var ErrResponse = errors.New("the response is not valid")

// The causes.
var (
	// ErrVersionRegressed reports that the resourceVersion of the collection went back, for example after a restored backup.
	ErrVersionRegressed error = &cause{"the collection's resource version went back: was a backup restored?"}
	// ErrNoInitialEnd reports a streaming list without its initial-events-end bookmark, or with the bookmark in a wrong place.
	ErrNoInitialEnd error = &cause{"the streaming list has no initial-events-end bookmark where it ends"}
	// ErrNotList reports a well-formed response that is not a list, such as a page or another object. It is within a
	// *lw.MalformedError.
	ErrNotList error = &cause{"the answer is no list"}
	// ErrNoProgress reports that a page started with the same object as an earlier page, that a continue token led to itself,
	// or that too many pages in a row were empty.
	ErrNoProgress error = &cause{"the pages of the list make no progress"}
	// ErrInconsistentPages reports pages of a list with different resourceVersions.
	ErrInconsistentPages error = &cause{"the pages of the list have different resourceVersions"}
	// ErrShardIgnored reports a list of the whole collection although a shard was requested.
	ErrShardIgnored error = &cause{"the server ignored the shard selector: it needs Kubernetes 1.36 and the feature gate ShardedListAndWatch"}
)

type cause struct{ text string }

func (c *cause) Error() string { return c.text }

func (*cause) Unwrap() error { return ErrResponse }
