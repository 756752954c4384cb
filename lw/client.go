package lw

import (
	"context"
	"errors"
	"io"
	"iter"
	"strings"

	"github.com/seed-6d2a410a/listwatch/internal/recall"
)

// ClientOptions configure a [Client].
type ClientOptions struct {
	// MaxFrame is the largest event or list item accepted, in bytes; [DefaultMaxFrame] if zero, and 1 GiB at most. A larger
	// one is a *[FrameTooLargeError]. It bounds the memory that one response may take.
	MaxFrame int

	// MetadataOnly asks for PartialObjectMetadata, which is an object's metadata and nothing else.
	// https://kubernetes.io/docs/reference/using-api/api-concepts/#receiving-resources-as-tables
	MetadataOnly bool
}

// Client is the ListerWatcher of one resource over a Transport. All methods may run concurrently.
type Client[T Keyed] struct {
	transport Transport
	resource  Resource
	codec     Codec[T]
	opts      ClientOptions
	server    *support
}

// NewClient returns a client for a resource, whose objects a codec decodes. opts may be nil. An error says what the
// resource lacks.
func NewClient[T Keyed](transport Transport, resource Resource, codec Codec[T], opts *ClientOptions) (*Client[T], error) {
	if transport == nil || codec == nil {
		return nil, errors.New("lw: NewClient needs a transport and a codec, as that of transport/http and RawCodec{}")
	}
	if err := resource.validate(); err != nil {
		return nil, err
	}
	if opts == nil {
		opts = &ClientOptions{}
	}
	return &Client[T]{transport: transport, resource: resource, codec: codec, opts: *opts, server: new(support)}, nil
}

// StreamsLists reports whether streaming lists are worth requesting: true until they have failed.
func (c *Client[T]) StreamsLists() bool { return c.server.streamsLists() }

// String returns the resource like [Resource.String], up to the query of a raw path.
func (c *Client[T]) String() string {
	text, _, _ := strings.Cut(c.resource.String(), "?")
	return text
}

func (c *Client[T]) supported() *support { return c.server }

// List implements [ListerWatcher]. It holds one object at a time in memory, besides the objects that the caller keeps.
//
//go:noinline because each caller would get a copy of the function that it returns, of 1.4 kB
func (c *Client[T]) List(ctx context.Context, opts ListOptions, meta *ListMeta) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var none T
		trace := TraceOf(ctx)
		body, err := trace.open(ctx, c.transport, c.listRequest(opts))
		if err != nil {
			yield(none, c.openError(err))
			return
		}
		defer body.Close()
		s := c.newDecoder(body)
		defer s.release()
		held := recall.From[T](ctx, c)
		var item Scanned
		stopped := false
		s.list(meta, &item, func() bool {
			if !c.server.ownItem(&c.resource, meta, &item) {
				s.notThisList()
				return false
			}
			trace.frame(Added, &item)
			object, err := c.decodeItem(held, &item)
			stopped = !yield(object, err)
			return !stopped
		})
		if !s.failed() && !stopped && !c.server.ownList(&c.resource, meta) {
			s.notThisList()
		}
		if !s.failed() && !sameSelector(meta.ShardSelector, opts.ShardSelector) {
			s.fail(ErrShardIgnored)
		}
		if !stopped && s.failed() {
			yield(none, s.failure())
		}
	}
}

// decodeItem returns the object that the caller holds already, if it is the same, or decodes the item.
func (c *Client[T]) decodeItem(held recall.Func[T], item *Scanned) (T, error) {
	if held != nil {
		object, ok := held(item.Namespace(), item.Name(), item.ResourceVersion())
		if codec, compares := c.codec.(comparer[T]); ok && (!compares || codec.Same(object, item)) {
			return object, nil
		}
	}
	return c.decode(Added, item)
}

func (c *Client[T]) decode(eventType EventType, s *Scanned) (T, error) {
	object, err := c.codec.Decode(s)
	if err != nil {
		key := Key{Namespace: string(s.Namespace()), Name: string(s.Name())}
		err = &DecodeError{Type: eventType, Key: key, ResourceVersion: string(s.ResourceVersion()), Err: err}
	}
	return object, err
}

// Watch implements [ListerWatcher]. Bookmarks are asked for.
func (c *Client[T]) Watch(ctx context.Context, opts WatchOptions) iter.Seq2[Event[T], error] {
	return func(yield func(Event[T], error) bool) {
		trace := TraceOf(ctx)
		body, err := trace.open(ctx, c.transport, c.watchRequest(&opts))
		if err != nil {
			yield(Event[T]{}, c.openError(err))
			return
		}
		defer body.Close()
		if !yield(Event[T]{Type: WatchStarted, ResourceVersion: opts.ResourceVersion}, nil) {
			return
		}
		s := c.newDecoder(body)
		defer s.release()
		var scanned Scanned
		held := recall.From[T](ctx, c)
		for {
			scanned.body = nil // the buffer that it views is lent to others meanwhile
			s.begin()          // waits; nextEvent would, too, and hold more of the stack meanwhile
			event, err := c.nextEvent(s, &scanned, trace, held)
			if err == io.EOF {
				return
			}
			if _, goesOn := err.(*DecodeError); !yield(event, err) || err != nil && !goesOn {
				return
			}
		}
	}
}

// nextEvent reads one event. An ERROR event becomes an error. At a clean end it returns io.EOF.
func (c *Client[T]) nextEvent(s decoder, scanned *Scanned, trace *Trace, held recall.Func[T]) (event Event[T], err error) {
	eventType, ok := s.event(scanned)
	if !ok {
		return event, s.failure()
	}
	trace.frame(eventType, scanned)
	event.Type = eventType
	switch eventType {
	case errorEvent:
		return event, errorOfEvent(s, scanned)
	case Bookmark:
		event.ResourceVersion = string(scanned.ResourceVersion())
		if scanned.initialEventsEnd {
			event.Type = Synced
		}
	case Added: // in a streaming list, or again after a reconnect
		event.Object, err = c.decodeItem(held, scanned)
	default:
		event.Object, err = c.decode(eventType, scanned)
	}
	if undecoded, ok := err.(*DecodeError); ok {
		event.ResourceVersion = undecoded.ResourceVersion
	} else if event.Type != Bookmark && event.Type != Synced {
		event.ResourceVersion = event.Object.GetResourceVersion()
	}
	return event, err
}

// errorOfEvent returns the error of an ERROR event.
func errorOfEvent(s decoder, scanned *Scanned) error {
	status, err := s.status(scanned)
	if err != nil {
		return err
	}
	return &StatusError{Status: status, RetryAfter: status.Details.retryAfter()}
}
