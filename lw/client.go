package lw

import (
	"context"
	"errors"
	"io"
	"iter"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// ClientOptions configures a [Client]. The zero value is ready to use.
type ClientOptions struct {
	// MaxFrame limits the size of one event or list item in bytes, which also limits the memory per response. A larger
	// event or item causes [ErrTooLarge]. Zero means 64 MiB. The maximum is 1 GiB.
	MaxFrame int

	// MetadataOnly requests PartialObjectMetadata, which contains only an object's metadata.
	// https://kubernetes.io/docs/reference/using-api/api-concepts/#receiving-resources-as-tables
	MetadataOnly bool

	// KeepManagedFields keeps metadata.managedFields in objects. By default the client drops this field, because it often
	// makes up half of an object.
	KeepManagedFields bool

	// Protobuf requests Kubernetes' protobuf encoding, which decodes faster than JSON. The codec must support it, as
	// lw/codec.Protobuf does. [Scanned.Raw] then returns the protobuf message of the object, for example of a Pod, without
	// kind and apiVersion. API servers encode only built-in types as protobuf. They respond to requests for custom
	// resources with 406. Browsers and WebSocket transports support only JSON.
	Protobuf bool
}

// Client lists and watches one resource over a [Transport]. It implements [ListerWatcher]. Its methods may be called
// concurrently.
type Client[T Keyed] struct {
	collection collection
	codec      Codec[T]
	source     Source[T]
}

// collection contains the part of a Client that does not depend on the type of the objects. The compiler generates code
// for each type of a Client, but only once for a collection, so this makes programs smaller.
type collection struct {
	transport Transport
	resource  Resource
	opts      ClientOptions
	kind      atomic.Pointer[string] // expected kind of the lists, for example "PodList", or nil if unknown
	listKind  atomic.Pointer[string] // kind of the last list of a custom resource, or nil; may differ from the expected kind
}

// NewClient returns a client for a resource, whose objects the codec decodes. opts may be nil. NewClient returns an
// error if an argument is invalid.
func NewClient[T Keyed](transport Transport, resource Resource, codec Codec[T], opts *ClientOptions) (*Client[T], error) {
	if transport == nil || codec == nil {
		return nil, errors.New("lw: NewClient needs a transport and a codec, such as lw.RawCodec{}")
	}
	if err := resource.validate(); err != nil {
		return nil, err
	}
	if opts == nil {
		opts = &ClientOptions{}
	}
	raw, isRaw := any(codec).(RawCodec)
	if opts.Protobuf {
		if isRaw {
			return nil, errors.New("lw: RawCodec needs JSON: use a codec such as codec.Protobuf, or clear ClientOptions.Protobuf")
		}
		if runtime.GOOS == "js" {
			return nil, errors.New("lw: browsers support only JSON: clear ClientOptions.Protobuf")
		}
	}
	if !opts.KeepManagedFields && raw.namesManagedFields() {
		return nil, errors.New("lw: the projection selects metadata.managedFields: set ClientOptions.KeepManagedFields")
	}
	c := &Client[T]{collection: collection{transport: transport, resource: resource, opts: *opts}, codec: codec}
	c.source.Name, _, _ = strings.Cut(resource.String(), "?") // without the query of Resource.Raw
	c.source.StreamsLists, c.source.Identity = true, codec.Identity()
	if kind := resource.builtinKind(); kind != "" {
		c.collection.kind.Store(&kind)
	}
	return c, nil
}

// Source implements [ListerWatcher]. All streams of a Client share one Source, so each stream knows what the others
// have learned about the server, for example that it has no streaming lists.
func (c *Client[T]) Source() *Source[T] { return &c.source }

// List implements [ListerWatcher]. It buffers the text of one object at a time.
func (c *Client[T]) List(ctx context.Context, opts ListOptions) *Page[T] {
	page := new(Page[T])
	page.Objects = func(yield func(T, error) bool) { c.list(ctx, &opts, &page.ListMeta, yield) }
	return page
}

// list requests a page and yields its objects while they arrive. It checks each item before it yields the item, because
// a list of another collection must not reach the caller.
func (c *Client[T]) list(ctx context.Context, opts *ListOptions, meta *ListMeta, yield func(T, error) bool) {
	var none T
	trace := ContextTrace(ctx)
	body, err := trace.open(ctx, c.collection.transport, c.collection.request(opts, false))
	if err != nil {
		c.collection.forgetKind(err)
		yield(none, err)
		return
	}
	defer body.Close()
	s := c.newDecoder(body, opts.progress)
	defer s.Release()
	item := Scanned{managed: c.collection.opts.KeepManagedFields}
	stopped := false
	s.list(meta, &item, func() bool {
		if err := c.collection.checkItem(ctx, opts, meta, &item); err != nil {
			return s.Fail(err)
		}
		trace.frame(Added, &item)
		object, err := c.decodeItem(opts, &item)
		stopped = !yield(object, err)
		return !stopped
	})
	if stopped {
		return
	}
	if s.Err() == nil {
		if err := c.collection.checkList(ctx, opts, meta); err != nil {
			s.Fail(err)
		}
	}
	if s.Err() != nil {
		yield(none, s.Err())
	}
}

// newDecoder returns a decoder for a response body. The decoder calls progress whenever a part of an object arrives, so
// that a slow transfer does not count as idle. progress may be nil.
func (c *Client[T]) newDecoder(body *Response, progress func()) decoder {
	// NewClient rejects Protobuf in browsers. The second condition lets the linker omit the decoder from the WASM module.
	if c.collection.opts.Protobuf && runtime.GOOS != "js" {
		d := newProtoDecoder(body, c.collection.opts.MaxFrame, progress)
		d.redact = body.Redact
		return d
	}
	s := newScanner(body, c.collection.opts.MaxFrame, progress)
	s.redact = body.Redact
	return s
}

// decodeItem decodes a list item, unless the caller already holds an equal object. In that case it returns the caller's
// object, so a relist allocates no memory for unchanged objects. If a wrapper may have changed the objects, opts.holder
// differs from c, and decodeItem does not reuse them; see PassLookup.
func (c *Client[T]) decodeItem(opts *ListOptions, item *Scanned) (T, error) {
	if opts.lookup != nil && opts.holder == c {
		if held, ok := opts.lookup(item.Namespace(), item.Name(), item.UID(), item.ResourceVersion()); ok {
			same := c.source.Identity.Same
			if object, ok := held.(T); ok && (same == nil || same(object, item)) {
				return object, nil
			}
		}
	}
	return c.decode(Added, item)
}

// decode decodes an object. It wraps an error of the codec in a [DecodeError], which names the object.
func (c *Client[T]) decode(eventType EventType, s *Scanned) (T, error) {
	object, err := c.codec.Decode(s)
	if err != nil {
		key := Key{Namespace: string(s.Namespace()), Name: string(s.Name())}
		err = &DecodeError{Type: eventType, Key: key, ResourceVersion: string(s.ResourceVersion()), Err: err}
	}
	return object, err
}

// Watch implements [ListerWatcher]. It requests bookmarks.
func (c *Client[T]) Watch(ctx context.Context, opts ListOptions) iter.Seq2[Event[T], error] {
	return func(yield func(Event[T], error) bool) {
		trace := ContextTrace(ctx)
		body, err := trace.open(ctx, c.collection.transport, c.collection.request(&opts, true))
		if err != nil {
			c.collection.forgetKind(err)
			yield(Event[T]{}, err)
			return
		}
		defer body.Close()
		if !yield(Event[T]{Type: WatchStarted, ResourceVersion: opts.ResourceVersion}, nil) {
			return
		}
		s := c.newDecoder(body, opts.progress)
		defer s.Release()
		scanned := Scanned{managed: c.collection.opts.KeepManagedFields}
		for {
			scanned.body = nil // the buffer returns to the pool while Begin blocks
			// Begin waits for the event. If nextEvent waited instead, each idle watch would need a larger stack.
			s.Begin()
			event, err := c.nextEvent(ctx, s, &scanned, trace, &opts)
			if err == io.EOF {
				return
			}
			if _, goesOn := err.(*DecodeError); !yield(event, err) || err != nil && !goesOn {
				return
			}
		}
	}
}

// nextEvent reads one event. For an ERROR event it returns an error, and after a clean close it returns io.EOF.
func (c *Client[T]) nextEvent(ctx context.Context, s decoder, scanned *Scanned, trace *Trace, opts *ListOptions) (event Event[T], err error) {
	eventType, ok := s.event(scanned)
	if !ok {
		return event, s.Err()
	}
	trace.frame(eventType, scanned)
	if eventType != errorEvent && !opts.SendInitialEvents { // checkStreamingList learns the kind of a streaming list
		c.collection.learnKind(scanned)
	}
	event.Type = eventType
	switch eventType {
	case errorEvent:
		return event, s.status(scanned)
	case Bookmark:
		event.ResourceVersion = string(scanned.ResourceVersion())
		if scanned.initialEventsEnd {
			event.Type = Synced
			err = c.collection.checkStreamingList(ctx, opts, scanned)
		}
	case Added: // in a streaming list or after a reconnect, the caller may already hold the object
		event.Object, err = c.decodeItem(opts, scanned)
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

// request builds the request for a list or for a watch.
func (c *collection) request(opts *ListOptions, watch bool) *Request {
	path, rawQuery := c.resource.path()
	q := query(rawQuery)
	if watch {
		q = q.add("watch", "1")
	}
	q = q.add("labelSelector", opts.LabelSelector).
		add("fieldSelector", c.resource.fieldSelector(opts.FieldSelector)).
		add("resourceVersion", opts.ResourceVersion)
	if watch {
		q = q.add("allowWatchBookmarks", "true")
	}
	if opts.SendInitialEvents {
		q = q.add("sendInitialEvents", "true")
	}
	if opts.Limit > 0 {
		q = q.add("limit", strconv.Itoa(opts.Limit))
	}
	// A streaming list requires resourceVersionMatch. For a list with a limit, a server would otherwise return the
	// state at exactly this resourceVersion, which may have expired.
	if opts.SendInitialEvents || opts.Limit > 0 && opts.ResourceVersion != "" && opts.ResourceVersion != "0" {
		q = q.add("resourceVersionMatch", "NotOlderThan")
	}
	q = q.add("continue", opts.Continue)
	if opts.Timeout > 0 {
		q = q.add("timeoutSeconds", strconv.Itoa(int((opts.Timeout+time.Second-1)/time.Second)))
	}
	if !watch { // for browsers and curl, a server would otherwise indent the JSON, which doubles its size
		q = q.add("pretty", "false")
	}
	return &Request{Path: path, Query: string(q), Accept: c.accept(watch), Watch: watch}
}

// accept returns the Accept header of a request. A watch must not accept the media type of a metadata list, because the
// server would then send no events. The media type parameter drop (KEP-5958) makes new servers omit managedFields. The
// header has at most 128 bytes, because a longer header would make browsers send a preflight request.
func (c *collection) accept(watch bool) string {
	accept := "application/json"
	if c.opts.Protobuf {
		accept = "application/vnd.kubernetes.protobuf"
	}
	switch {
	case c.opts.MetadataOnly && watch:
		accept += ";as=PartialObjectMetadata;g=meta.k8s.io;v=v1"
	case c.opts.MetadataOnly:
		accept += ";as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"
	}
	if !c.opts.KeepManagedFields {
		accept += ";drop=metadata.managedFields"
	}
	return accept
}
