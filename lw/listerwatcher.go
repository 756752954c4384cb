package lw

import (
	"context"
	"iter"
	"time"
)

// ListerWatcher lists a collection and watches it from a resourceVersion. [Client] implements it for Kubernetes. Any
// system with a versioned history can implement it, for example etcd in examples/etcd.
//
// A ListerWatcher that supports streaming lists also implements StreamsLists() bool, which reports whether to request
// them. Without this method the engine requests only ordinary lists. A type that embeds a [Client] supports streaming
// lists like the Client.
//
// An error that matches [ErrExpired] or [ErrResourceVersionTooLarge] causes a relist. The engine handles a
// *[StatusError] by its code. It treats errors that this package does not define as connection errors, and retries
// after a delay. When ctx is done, the engine uses context.Cause(ctx) instead of the returned error.
type ListerWatcher[T Keyed] interface {
	// List makes one request and yields the objects as they arrive. An error other than a *[DecodeError] ends the
	// sequence. If there is no such error, List sets meta before the sequence ends. A source without pagination may
	// ignore opts.Limit. All pages of a list must have the resourceVersion of the first page.
	List(ctx context.Context, opts ListOptions, meta *ListMeta) iter.Seq2[T, error]

	// Watch makes one request. It yields WatchStarted when the response arrives, and then the events. In a streaming
	// list it yields Synced after the initial objects. The sequence ends when the server closes the watch cleanly. An
	// error ends the sequence, unless it is a *[DecodeError].
	//
	// The ResourceVersion of an event promises that all changes up to it were yielded. If several changes share a
	// resourceVersion, only the event of the last change may contain it. Otherwise a broken stream would resume after
	// changes that it has not yielded.
	//
	// Watch must end after opts.Timeout. The engine cancels a watch that yields nothing for 5 seconds longer than
	// opts.Timeout. After the first Bookmark the limit is 140 seconds, so the source must yield a Bookmark every
	// minute.
	Watch(ctx context.Context, opts WatchOptions) iter.Seq2[Event[T], error]
}

// listStreamer is a ListerWatcher that may support streaming lists.
type listStreamer interface{ StreamsLists() bool }

// ListOptions contains the parameters of a list request. See
// https://kubernetes.io/docs/reference/using-api/api-concepts/ for their meaning.
type ListOptions struct {
	LabelSelector   string // for example "app=web,tier!=db"
	FieldSelector   string // for example "spec.nodeName=n1"
	ResourceVersion string // minimum resourceVersion of the list ("" means the latest, "0" means any)
	Limit           int    // maximum number of objects in the response (zero means no limit)
	Continue        string // ListMeta.Continue of the previous page (requires an empty ResourceVersion)

	// ShardSelector requests a part of the collection (KEP-5866), for example
	// "shardRange(object.metadata.uid,'0x0000000000000000', '0x8000000000000000')". If the server ignores it, List
	// returns an [ErrInvalidResponse].
	ShardSelector string

	// Progress restarts the idle timeout of the request. A source calls it when a part of an object has arrived, so that
	// a large object may take minutes over a slow link. It may be nil.
	Progress func()

	replaces bool // the list replaces objects that did not come from a list of this client, so its kind must be known
}

// WatchOptions contains the parameters of a watch request.
type WatchOptions struct {
	LabelSelector   string
	FieldSelector   string
	ShardSelector   string
	ResourceVersion string        // yield only events after this resourceVersion ("" or "0" starts with an Added event for every object)
	Timeout         time.Duration // the server closes the watch after this time, in whole seconds (zero means the server's default)

	// SendInitialEvents requests a streaming list: an Added event for every object, then Synced, then the events of a
	// watch. ResourceVersion is then the minimum resourceVersion of the list, and "" means the latest.
	// https://kubernetes.io/docs/reference/using-api/api-concepts/#streaming-lists
	SendInitialEvents bool

	Progress func() // as in [ListOptions]
}
