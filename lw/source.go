package lw

import (
	"context"
	"iter"
	"time"
)

// ListerWatcher lists a collection and watches it from a resourceVersion. [Client] implements it for Kubernetes. Any
// system with a versioned history can implement it, for example etcd in examples/etcd.
//
// An error that matches [ErrExpired] or [ErrResourceVersionTooLarge] causes a relist. The stream handles a
// *[StatusError] by its code. It treats errors that this package does not define as connection errors, and retries
// after a delay. When ctx is done, the stream uses context.Cause(ctx) instead of the returned error.
type ListerWatcher[T Keyed] interface {
	// List requests one page of a list. The request starts when the caller iterates over the page's objects. A source
	// without pagination may ignore opts.Limit. All pages of a list must have the resourceVersion of the first page.
	List(ctx context.Context, opts ListOptions) *Page[T]

	// Watch makes one request. It yields WatchStarted when the response arrives, and then the events. In a streaming
	// list it yields Synced after the initial objects. The sequence ends when the server closes the watch cleanly. An
	// error ends the sequence, unless it is a *[DecodeError].
	//
	// If an event has a ResourceVersion, the sequence must have yielded all changes up to that resourceVersion. If several
	// changes share a resourceVersion, only the event of the last change may contain it. Otherwise a broken stream would
	// resume there and miss the remaining changes.
	//
	// Watch must end after opts.Timeout. The stream cancels a watch that yields nothing for 90 seconds before
	// WatchStarted, for 10 seconds in a streaming list before Synced, and afterwards for 5 seconds longer than
	// opts.Timeout, but at most 140 seconds. Once any watch of the Source has yielded a Bookmark, the last limit is always
	// 140 seconds, so the source must yield a Bookmark every minute. If a check after a broken connection has shown a newer
	// object, the limit is 5 seconds until the watch yields that change.
	Watch(ctx context.Context, opts ListOptions) iter.Seq2[Event[T], error]

	// Source describes the server. Every call returns the same pointer, or nil, which stands for the zero [Source]. A
	// type that embeds a [Client] inherits the Client's Source.
	Source() *Source[T]
}

// Page is one page of a list.
type Page[T any] struct {
	// Objects yields the objects as they arrive. It may be iterated only once. An error other than a *[DecodeError] ends
	// the sequence.
	Objects iter.Seq2[T, error]

	ListMeta // complete when Objects has ended without an error
}

// Source describes the server of a [ListerWatcher] and its objects. It also records the features of the server that
// streams have discovered, so it must not be copied. The zero value describes a server without a name and without
// streaming lists.
type Source[T any] struct {
	Name         string // name of the collection for logs, for example "default/pods"
	StreamsLists bool   // whether to try streaming lists

	Identity Identity[T] // how to compare objects

	learned support
	shared  *support // the support of another Source, or nil; see Share
}

// Share makes s use the record of `other`, so that the streams of both share their knowledge of the server's features.
// Both collections must be on the same server. Call Share before the first stream of s.
func (s *Source[T]) Share(other *Source[T]) { s.shared = other.support() }

// support returns the record of the server's features. If StreamsLists is false, the record starts as if streaming
// lists had failed.
func (s *Source[T]) support() *support {
	if s.shared != nil {
		return s.shared
	}
	if !s.StreamsLists {
		s.learned.stopStreams()
	}
	return &s.learned
}

// ListOptions contains the parameters of a list or watch request. See
// https://kubernetes.io/docs/reference/using-api/api-concepts/ for their meaning.
type ListOptions struct {
	LabelSelector string // for example "app=web,tier!=db"
	FieldSelector string // for example "spec.nodeName=n1"

	// ResourceVersion is the minimum resourceVersion of a list: "" means the latest, and "0" means any. A watch yields
	// only events after this resourceVersion, and with "" or "0" it starts with an Added event for every object.
	ResourceVersion string

	// Limit is the maximum number of objects in the response to a list request. Zero means no limit.
	Limit int
	// Continue is ListMeta.Continue of the previous page of a list. It requires an empty ResourceVersion.
	Continue string

	// Timeout is the time, in whole seconds, after which the server closes a watch. Zero means the server's default.
	Timeout time.Duration
	// SendInitialEvents requests a streaming list from a watch: an Added event for every object, then Synced, then the
	// events of a watch. ResourceVersion is then the minimum resourceVersion of the list.
	// https://kubernetes.io/docs/reference/using-api/api-concepts/#streaming-lists
	SendInitialEvents bool

	// progress restarts the idle timeout of the request. A source calls it when a part of an object has arrived, so that
	// a large object may take minutes over a slow link. It may be nil.
	progress func()

	// lookup is Held.Lookup. Only the source `holder` may call it; see PassLookup.
	lookup func(namespace, name, uid, resourceVersion []byte) (object Keyed, ok bool)
	holder any

	charge func() // charges a discovery request to the request budget; may be nil

	replaces bool // the caller has objects that a list of another collection would delete, so the list's kind must be checked
}

// PassLookup returns options with which the source `to` may use [Held.Lookup] instead of the source `from`. If a
// ListerWatcher wraps another source and returns that source's objects unchanged, it can call PassLookup(wrapper,
// wrapped). The wrapped source can then reuse the caller's objects. A wrapper that changes objects must not call
// PassLookup, because the caller then holds changed objects. Both arguments must be comparable, for example pointers.
func (o ListOptions) PassLookup(from, to any) ListOptions {
	if o.lookup != nil && o.holder == from {
		o.holder = to
	}
	return o
}
