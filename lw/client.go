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
	// event or item causes a *[FrameTooLargeError]. Zero means 64 MiB. The maximum is 1 GiB.
	MaxFrame int

	// MetadataOnly requests PartialObjectMetadata, which contains only an object's metadata.
	// https://kubernetes.io/docs/reference/using-api/api-concepts/#receiving-resources-as-tables
	MetadataOnly bool

	// KeepManagedFields keeps metadata.managedFields in objects. By default the client drops the field, because it
	// often makes up half of an object.
	KeepManagedFields bool

	// Protobuf requests objects in Kubernetes' protobuf encoding, which decodes faster than JSON. The codec must support
	// it, like lw/codec.Protobuf. [Scanned.Raw] then returns the protobuf message of the object, for example of a Pod,
	// without kind and apiVersion.
	//
	// API servers encode only built-in types as protobuf. They respond to requests for custom resources with 406.
	// Browsers and WebSocket transports support only JSON.
	Protobuf bool
}

// Client lists and watches one resource over a [Transport]. It implements [ListerWatcher]. Its methods may be called
// concurrently.
type Client[T Keyed] struct {
	transport Transport
	resource  Resource
	codec     Codec[T]
	opts      ClientOptions
	source    Source[T]
	kind      atomic.Pointer[string] // kind of the collection's lists, or nil if unknown; see kind.go
}

// NewClient returns a client for a resource. The codec decodes the objects. opts may be nil. NewClient returns an error
// if an argument is invalid.
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
	if opts.Protobuf {
		switch any(codec).(type) {
		case RawCodec, *Projection:
			return nil, errors.New("lw: RawCodec, Project and Omit need JSON: use a codec such as codec.Protobuf, or clear ClientOptions.Protobuf")
		}
		if runtime.GOOS == "js" {
			return nil, errors.New("lw: browsers support only JSON: clear ClientOptions.Protobuf")
		}
	}
	if p, ok := any(codec).(*Projection); ok && !opts.KeepManagedFields && p.namesManagedFields() {
		return nil, errors.New("lw: the projection selects metadata.managedFields: set ClientOptions.KeepManagedFields")
	}
	c := &Client[T]{transport: transport, resource: resource, codec: codec, opts: *opts}
	c.source.Name, c.source.StreamsLists, c.source.Identity = c.String(), true, codec.Identity()
	if kind := resource.builtinKind(); kind != "" {
		c.kind.Store(&kind)
	}
	return c, nil
}

// String returns the name of the resource. It omits the query of Resource.Raw.
func (c *Client[T]) String() string {
	text, _, _ := strings.Cut(c.resource.String(), "?")
	return text
}

// Source implements [ListerWatcher]. All streams of a Client share what they learn about the server.
func (c *Client[T]) Source() *Source[T] { return &c.source }

// List implements [ListerWatcher]. It buffers the text of one object at a time.
func (c *Client[T]) List(ctx context.Context, opts ListOptions) *Page[T] {
	page := new(Page[T])
	page.Objects = func(yield func(T, error) bool) { c.list(ctx, &opts, &page.ListMeta, yield) }
	return page
}

func (c *Client[T]) list(ctx context.Context, opts *ListOptions, meta *ListMeta, yield func(T, error) bool) {
	var none T
	trace := ContextTrace(ctx)
	body, err := trace.open(ctx, c.transport, c.listRequest(*opts))
	if err != nil {
		c.forgetKind(err)
		yield(none, err)
		return
	}
	defer body.Close()
	s := c.newDecoder(body, opts.Progress)
	defer s.Release()
	reuse := opts.Reuse.Pass(c, c)
	item := Scanned{managed: c.opts.KeepManagedFields}
	stopped := false
	s.list(meta, &item, func() bool {
		if err := c.checkItem(ctx, opts, meta, &item); err != nil {
			rejectList(s, err)
			return false
		}
		trace.frame(Added, &item)
		object, err := c.decodeItem(reuse, &item)
		stopped = !yield(object, err)
		return !stopped
	})
	if stopped {
		return
	}
	if s.Err() == nil {
		if err := c.checkList(ctx, opts, meta); err != nil {
			rejectList(s, err)
		} else if !sameSelector(meta.shardSelector, opts.ShardSelector) {
			s.Fail(ErrShardIgnored)
		}
	}
	if s.Err() != nil {
		yield(none, s.failure())
	}
}

// rejectList records why a list is not accepted: it belongs to another resource, or the server could not confirm that it
// belongs to this one.
func rejectList(s decoder, err error) {
	if err == ErrNotList {
		s.wrongList()
	} else {
		s.Fail(err)
	}
}

// decodeItem returns the stored object if it equals the item. Otherwise it decodes the item.
func (c *Client[T]) decodeItem(reuse *Reuse, item *Scanned) (T, error) {
	if reuse != nil {
		if held, ok := reuse.lookup(item.Namespace(), item.Name(), item.UID(), item.ResourceVersion()); ok {
			if object, ok := held.(T); ok && c.codec.Same(object, item) {
				return object, nil
			}
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

// Watch implements [ListerWatcher]. It requests bookmarks.
func (c *Client[T]) Watch(ctx context.Context, opts WatchOptions) iter.Seq2[Event[T], error] {
	return func(yield func(Event[T], error) bool) {
		trace := ContextTrace(ctx)
		body, err := trace.open(ctx, c.transport, c.watchRequest(&opts))
		if err != nil {
			c.forgetKind(err)
			yield(Event[T]{}, err)
			return
		}
		defer body.Close()
		if !yield(Event[T]{Type: WatchStarted, ResourceVersion: opts.ResourceVersion}, nil) {
			return
		}
		s := c.newDecoder(body, opts.Progress)
		defer s.Release()
		scanned := Scanned{managed: c.opts.KeepManagedFields}
		reuse := opts.Reuse.Pass(c, c)
		for {
			scanned.body = nil // other streams may use the buffer while Begin blocks
			s.Begin()          // blocks with a small stack, unlike nextEvent
			event, err := c.nextEvent(s, &scanned, trace, reuse)
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
func (c *Client[T]) nextEvent(s decoder, scanned *Scanned, trace *Trace, reuse *Reuse) (event Event[T], err error) {
	eventType, ok := s.event(scanned)
	if !ok {
		return event, s.failure()
	}
	trace.frame(eventType, scanned)
	if eventType != errorEvent {
		c.learnKind(scanned)
	}
	event.Type = eventType
	switch eventType {
	case errorEvent:
		return event, s.status(scanned)
	case Bookmark:
		event.ResourceVersion = string(scanned.ResourceVersion())
		if scanned.initialEventsEnd {
			event.Type = Synced
			err = c.checkStreamingList(scanned)
		}
	case Added: // in a streaming list or after a reconnect, the store may already hold the object
		event.Object, err = c.decodeItem(reuse, scanned)
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

func (c *Client[T]) listRequest(opts ListOptions) *Request {
	path, rawQuery := c.resource.path()
	q := query(rawQuery).add("labelSelector", opts.LabelSelector).
		add("fieldSelector", c.resource.fieldSelector(opts.FieldSelector)).
		add("shardSelector", opts.ShardSelector).
		add("resourceVersion", opts.ResourceVersion)
	if opts.Limit > 0 {
		q = q.add("limit", strconv.Itoa(opts.Limit))
		if opts.ResourceVersion != "" && opts.ResourceVersion != "0" { // without resourceVersionMatch, a limit would request exactly this resourceVersion
			q = q.add("resourceVersionMatch", "NotOlderThan")
		}
	}
	// Without pretty=false, a server indents the JSON for clients such as browsers and curl, which doubles its size.
	q = q.add("continue", opts.Continue).add("pretty", "false")
	return &Request{Path: path, Query: string(q), Accept: c.accept("List")}
}

func (c *Client[T]) watchRequest(opts *WatchOptions) *Request {
	path, rawQuery := c.resource.path()
	q := query(rawQuery).add("watch", "1").
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

// accept returns the Accept header of a request. The suffix is "List" for lists and "" for watches, because a watch
// with the list's media type yields no events. The media type parameter drop (KEP-5958) makes new servers omit
// managedFields. The header has at most 128 bytes, because a longer header would make browsers send a preflight
// request.
func (c *Client[T]) accept(suffix string) string {
	accept := c.mediaType()
	if c.opts.MetadataOnly {
		accept += ";as=PartialObjectMetadata" + suffix + ";g=meta.k8s.io;v=v1"
	}
	if !c.opts.KeepManagedFields {
		accept += ";drop=metadata.managedFields"
	}
	return accept
}

// sameSelector reports whether the server used the requested selector. It ignores spaces, because servers add them.
func sameSelector(used, asked string) bool {
	nextByte := func(text *string) byte {
		for *text != "" {
			c := (*text)[0]
			*text = (*text)[1:]
			if c != ' ' {
				return c
			}
		}
		return 0
	}
	for {
		a, b := nextByte(&used), nextByte(&asked)
		if a != b {
			return false
		}
		if a == 0 {
			return true
		}
	}
}
