package lw

import (
	"context"
	"iter"
	"time"
)

// ListerWatcher lists a collection, and watches it from a resource version. [Client] is one, and any system whose history
// has versions can be another: examples/etcd is one of etcd.
//
// A ListerWatcher that can stream lists also has a method StreamsLists() bool, which reports whether they are worth
// requesting. Without it only ordinary lists are requested. A ListerWatcher around a [Client] should pass the method on.
//
// An error that matches [ErrExpired] or [ErrResourceVersionTooLarge] leads to a new list. A *[StatusError] says what was answered; any
// other error that this package does not name is taken for the connection's fault, and tried again after a delay. When
// ctx ends, whatever the sequence ends with is taken for context.Cause(ctx).
type ListerWatcher[T Keyed] interface {
	// List makes one request and yields the objects as they arrive. After an error nothing more is yielded, unless it is
	// a *[DecodeError]. meta is complete when the sequence has ended without another error. A source that does not know
	// pages may yield more than opts.Limit; one that does gives every page as of the first one's version.
	List(ctx context.Context, opts ListOptions, meta *ListMeta) iter.Seq2[T, error]

	// Watch makes one request. It yields WatchStarted when the response arrives, and then one event each. In a streaming list it
	// yields Synced where the list part ends. The sequence ends when the server closes the watch cleanly. After an error
	// nothing more is yielded, unless it is a *[DecodeError].
	//
	// An event with a ResourceVersion promises that all changes up to it were yielded. If several changes share a
	// resourceVersion, only the last of them may carry it, because a stream that breaks in between resumes from the one before.
	//
	// Watch must end after opts.Timeout. A stream that brings nothing for 5 s longer is taken for dead. The first Bookmark
	// promises one per minute: from then on a stream without events for 140 s is taken for dead.
	Watch(ctx context.Context, opts WatchOptions) iter.Seq2[Event[T], error]
}

// listStreamer is a ListerWatcher that can stream lists.
type listStreamer interface{ StreamsLists() bool }

// ListOptions are the parameters of one list request. Their meaning is the API's:
// https://kubernetes.io/docs/reference/using-api/api-concepts/
type ListOptions struct {
	LabelSelector   string // as "app=web,tier!=db"; passed through
	FieldSelector   string // as "spec.nodeName=n1"; passed through
	ResourceVersion string // the list is not older than this; "" asks for the latest, "0" for whatever the server has at hand
	Limit           int    // most items in the response; zero means all
	Continue        string // ListMeta.Continue of the page before; ResourceVersion must then be ""

	// ShardSelector asks for a part of the collection, as "shardRange(object.metadata.uid,'0x0000000000000000',
	// '0x8000000000000000')" (KEP-5866). A server that does not know it returns all: that is ErrShardIgnored.
	ShardSelector string
}

// WatchOptions are the parameters of one watch request.
type WatchOptions struct {
	LabelSelector   string
	FieldSelector   string
	ShardSelector   string
	ResourceVersion string        // events after this one; "" or "0" begins with an Added for every object, which the engine asks for behind a list without a resourceVersion
	Timeout         time.Duration // the server ends the watch after this, in whole seconds; zero leaves it to the server

	// SendInitialEvents asks for a streaming list: the collection first, as Added events, then Synced, then what happens.
	// ResourceVersion is then the version that the list must have reached; "" means the latest.
	// https://kubernetes.io/docs/reference/using-api/api-concepts/#streaming-lists
	SendInitialEvents bool
}
