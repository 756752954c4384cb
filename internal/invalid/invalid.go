// Package invalid defines the causes of lw.ErrInvalidResponse, so that logs and tests can distinguish them.
package invalid

import "errors"

// ErrResponse is lw.ErrInvalidResponse. All other errors of this package wrap it.
var ErrResponse = errors.New("the response is not valid")

var (
	// ErrVersionRegressed reports that the resourceVersion of the collection decreased, for example after a backup was
	// restored.
	ErrVersionRegressed error = &cause{"the collection's resourceVersion decreased: was a backup restored?"}
	// ErrReplaced reports that the objects on the server contradict the state that the stream has reached, for example
	// because the cluster was rebuilt at the same address.
	ErrReplaced error = &cause{"the server's objects contradict the earlier state of the collection: was the cluster rebuilt?"}
	// ErrNoInitialEnd reports that the initial-events-end bookmark of a streaming list is missing or misplaced.
	ErrNoInitialEnd error = &cause{"the initial-events-end bookmark of the streaming list is missing or misplaced"}
	// ErrNotList reports a response that is not a list, for example an HTML page or a single object. Callers receive it
	// in a *lw.MalformedError.
	ErrNotList error = &cause{"the response is not a list"}
	// ErrNoProgress reports a paginated list that repeats its first object or a continue token, or has too many empty
	// pages in a row.
	ErrNoProgress error = &cause{"the list's pagination makes no progress"}
	// ErrInconsistentPages reports that the pages of a list have different resourceVersions.
	ErrInconsistentPages error = &cause{"the pages of the list have different resourceVersions"}
	// ErrShardIgnored reports that a list contains the whole collection instead of the requested shard.
	ErrShardIgnored error = &cause{"the server ignored the shard selector: sharding needs Kubernetes 1.36 and the feature gate ShardedListAndWatch"}
)

type cause struct{ text string }

func (c *cause) Error() string { return c.text }

func (*cause) Unwrap() error { return ErrResponse }
