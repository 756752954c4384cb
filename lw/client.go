package lw

import (
	"context"
	"errors"
	"io"
	"iter"
	"strconv"
	"time"
)

// ListerWatcher lists a collection, and watches it from a resource version. [Client] is one, and any system whose history
// has versions can be another: examples/etcd is one of etcd.
//
// An error that matches [ErrExpired] or [ErrTooLarge] leads to a new list. A *[StatusError] says what was answered; any
// other error that this package does not name is taken for the connection's fault, and tried again after a delay. When
// ctx ends, whatever the sequence ends with is taken for context.Cause(ctx).
type ListerWatcher[T Keyed] interface {
	// List makes one request and yields the objects as they arrive. After an error nothing more is yielded, unless it is
	// a *[DecodeError]. meta is complete when the sequence has ended without another error. A source that does not know
	// pages may yield more than opts.Limit; one that does gives every page as of the first one's version.
	List(ctx context.Context, opts ListOptions, meta *ListMeta) iter.Seq2[T, error]

	// Watch makes one request. It yields Live when the response has arrived, and then an event each; of a streaming list
	// Synced where its list part ends. The sequence ends where the server ended the watch in good order; after an error
	// nothing more is yielded, unless it is a *[DecodeError].
	//
	// An event with a ResourceVersion says that all up to this version has been told. Where several changes have one
	// version, only the last of them may have it: a stream that breaks in between is resumed from the version before. The
	// first Bookmark promises more of them, one a minute: 150 s of silence are then a dead connection, and otherwise 5 s more
	// than opts.Timeout.
	Watch(ctx context.Context, opts WatchOptions) iter.Seq2[Event[T], error]
}

// ListStreamer is a ListerWatcher that may know streaming lists, see [WatchOptions]. StreamsLists tells whether they are
// worth asking for; a ListerWatcher that is none is asked for ordinary lists only. One that wraps another passes it on.
type ListStreamer interface{ StreamsLists() bool }

// Recaller is a ListerWatcher that can spare its caller the decoding of objects that it holds already. Recall returns
// one that asks known for every item of a list, and yields what known returns in place of a decoded item. The three byte
// slices are valid only during the call.
type Recaller[T Keyed] interface {
	Recall(known func(namespace, name, resourceVersion []byte) (T, bool)) ListerWatcher[T]
}

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
	ResourceVersion string        // events after this version; "" or "0" begins with an Added for every object: the engine never asks so
	Timeout         time.Duration // the server ends the watch after this, in whole seconds; zero leaves it to the server

	// SendInitialEvents asks for a streaming list: the collection first, as Added events, then Synced, then what happens.
	// ResourceVersion is then the version that the list must have reached; "" means the latest.
	// https://kubernetes.io/docs/reference/using-api/api-concepts/#streaming-lists
	SendInitialEvents bool
}

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
	streaming *streamingVerdict
	known     func(namespace, name, resourceVersion []byte) (T, bool)
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
	return &Client[T]{transport: transport, resource: resource, codec: codec, opts: *opts, streaming: new(streamingVerdict)}, nil
}

// Recall implements [Recaller].
func (c *Client[T]) Recall(known func(namespace, name, resourceVersion []byte) (T, bool)) ListerWatcher[T] {
	recalling := *c
	recalling.known = known
	return &recalling
}

// StreamsLists implements [ListStreamer]: true until the server was found not to offer them.
func (c *Client[T]) StreamsLists() bool { return c.streaming.offered() }

// List implements [ListerWatcher]. Only one object at a time is held in memory besides what the caller keeps.
func (c *Client[T]) List(ctx context.Context, opts ListOptions, meta *ListMeta) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var none T
		trace := TraceOf(ctx)
		body, err := trace.open(ctx, c.transport, c.listRequest(opts))
		if err != nil {
			yield(none, err)
			return
		}
		defer body.Close()
		s := newScanner(body, c.opts.MaxFrame)
		defer s.release()
		var item Scanned
		stopped := false
		complete := s.list(meta, &item, func() bool {
			trace.frame(Added, &item)
			object, err := c.decodeItem(Added, &item)
			stopped = !yield(object, err)
			return !stopped
		})
		if complete && !sameSelector(meta.ShardSelector, opts.ShardSelector) {
			s.fail(ErrShardIgnored)
		}
		if !stopped && s.err != nil {
			yield(none, s.err)
		}
	}
}

func (c *Client[T]) decodeItem(eventType EventType, item *Scanned) (T, error) {
	if c.known != nil {
		object, ok := c.known(item.Namespace(), item.Name(), item.ResourceVersion())
		if comparer, compares := c.codec.(Comparer[T]); ok && (!compares || comparer.Same(object, item)) {
			return object, nil
		}
	}
	return c.decode(eventType, item)
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
			yield(Event[T]{}, err)
			return
		}
		defer body.Close()
		if !yield(Event[T]{Type: Live, ResourceVersion: opts.ResourceVersion}, nil) {
			return
		}
		s := newScanner(body, c.opts.MaxFrame)
		defer s.release()
		var scanned Scanned
		for {
			scanned.body = nil // the buffer that it views is lent to others meanwhile
			s.begin()          // waits; nextEvent would, too, and hold more of the stack meanwhile
			event, err := c.nextEvent(s, &scanned, trace)
			if err == io.EOF {
				return
			}
			if event.Type == Synced && !opts.SendInitialEvents {
				event.Type = Bookmark
			}
			if _, goesOn := err.(*DecodeError); !yield(event, err) || err != nil && !goesOn {
				return
			}
		}
	}
}

// nextEvent reads one event. An ERROR event becomes an error; io.EOF is the end in good order.
func (c *Client[T]) nextEvent(s *scanner, scanned *Scanned, trace *Trace) (event Event[T], err error) {
	eventType, ok := s.event(scanned)
	if !ok {
		return event, s.err
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
		event.Object, err = c.decodeItem(Added, scanned)
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

// errorOfEvent makes an error of an ERROR event's object, which is a Status or not what was promised.
func errorOfEvent(s *scanner, scanned *Scanned) error {
	status, err := statusOf(Value(string(scanned.body)))
	if err != nil {
		return &MalformedError{Offset: s.offset(s.mark), Expected: "a Status in the ERROR event", Found: "another object"}
	}
	return &StatusError{Status: status, RetryAfter: time.Duration(status.Details.RetryAfterSeconds) * time.Second}
}

func (c *Client[T]) listRequest(opts ListOptions) *Request {
	path, own := c.resource.path()
	q := query(own).add("labelSelector", opts.LabelSelector).
		add("fieldSelector", c.resource.fieldSelector(opts.FieldSelector)).
		add("shardSelector", opts.ShardSelector).
		add("resourceVersion", opts.ResourceVersion)
	if opts.Limit > 0 {
		q = q.add("limit", strconv.Itoa(opts.Limit))
		if opts.ResourceVersion != "" && opts.ResourceVersion != "0" { // without it, a limit would make it exactly this version
			q = q.add("resourceVersionMatch", "NotOlderThan")
		}
	}
	// Without pretty=false a server indents for whatever looks like a browser or curl, which doubles the bytes.
	q = q.add("continue", opts.Continue).add("pretty", "false")
	return &Request{Path: path, Query: string(q), Accept: c.accept("List")}
}

func (c *Client[T]) watchRequest(opts *WatchOptions) *Request {
	path, own := c.resource.path()
	q := query(own).add("watch", "1").
		add("labelSelector", opts.LabelSelector).
		add("fieldSelector", c.resource.fieldSelector(opts.FieldSelector)).
		add("shardSelector", opts.ShardSelector).
		add("resourceVersion", opts.ResourceVersion).
		add("allowWatchBookmarks", "true")
	if opts.SendInitialEvents {
		q = q.add("sendInitialEvents", "true").add("resourceVersionMatch", "NotOlderThan")
	}
	if opts.Timeout > 0 {
		q = q.add("timeoutSeconds", strconv.Itoa(int((opts.Timeout+time.Second-1)/time.Second)))
	}
	return &Request{Path: path, Query: string(q), Accept: c.accept(""), Watch: true}
}

// accept names the form of the response; suffix is "List" for lists. A watch that asks for the list's form gets nothing at
// all. drop (KEP-5958) leaves managedFields out at the server, where it knows of it. Browsers allow 128 bytes.
func (c *Client[T]) accept(suffix string) string {
	accept := "application/json"
	if c.opts.MetadataOnly {
		accept += ";as=PartialObjectMetadata" + suffix + ";g=meta.k8s.io;v=v1"
	}
	if dropsManagedFields(c.codec) {
		accept += ";drop=metadata.managedFields"
	}
	return accept
}

// sameSelector compares the selector that a server says it used with the one asked for; servers add spaces.
func sameSelector(used, asked string) bool {
	next := func(text *string) byte {
		for *text != "" {
			c := (*text)[0]
			if *text = (*text)[1:]; c != ' ' {
				return c
			}
		}
		return 0
	}
	for {
		a, b := next(&used), next(&asked)
		if a != b {
			return false
		}
		if a == 0 {
			return true
		}
	}
}
