package lw

import (
	"cmp"
	"context"
	"errors"
	"io"
	"iter"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/seed-6d2a410a/listwatch/internal/builtin"
	"github.com/seed-6d2a410a/listwatch/lw/internal/jsonscan"
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
	transport Transport
	resource  Resource
	codec     Codec[T]
	opts      ClientOptions
	source    Source[T]
	kind      atomic.Pointer[string] // kind of the lists, for example "PodList", or nil if unknown
	listKind  atomic.Pointer[string] // kind of the last list of a custom resource, which its definition can choose freely
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
	c := &Client[T]{transport: transport, resource: resource, codec: codec, opts: *opts}
	c.source.Name, _, _ = strings.Cut(resource.String(), "?") // without the query of Resource.Raw
	c.source.StreamsLists, c.source.Identity = true, codec.Identity()
	if kind := resource.builtinKind(); kind != "" {
		c.kind.Store(&kind)
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
	body, err := trace.open(ctx, c.transport, c.request(opts, false))
	if err != nil {
		c.forgetKind(err)
		yield(none, err)
		return
	}
	defer body.Close()
	s := c.newDecoder(body, opts.progress)
	defer s.Release()
	item := Scanned{managed: c.opts.KeepManagedFields}
	stopped := false
	s.list(meta, &item, func() bool {
		if err := c.checkItem(ctx, opts, meta, &item); err != nil {
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
		if err := c.checkList(ctx, opts, meta); err != nil {
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
	if c.opts.Protobuf && runtime.GOOS != "js" {
		d := newProtoDecoder(body, c.opts.MaxFrame, progress)
		d.redact = body.Redact
		return d
	}
	s := newScanner(body, c.opts.MaxFrame, progress)
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
		body, err := trace.open(ctx, c.transport, c.request(&opts, true))
		if err != nil {
			c.forgetKind(err)
			yield(Event[T]{}, err)
			return
		}
		defer body.Close()
		if !yield(Event[T]{Type: WatchStarted, ResourceVersion: opts.ResourceVersion}, nil) {
			return
		}
		s := c.newDecoder(body, opts.progress)
		defer s.Release()
		scanned := Scanned{managed: c.opts.KeepManagedFields}
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
			err = c.checkStreamingList(ctx, opts, scanned)
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
func (c *Client[T]) request(opts *ListOptions, watch bool) *Request {
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
func (c *Client[T]) accept(watch bool) string {
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

// A proxy may answer with a list of another collection, which would delete all objects from a store. The client detects
// such a list by its kind. The kind of a built-in resource never changes. For a custom resource, the client remembers
// the kind of the first list or watch event.
//
// A CustomResourceDefinition may be deleted and created again with another kind. The client therefore accepts a new
// kind after a 404 for the collection, or if the server's resource list contains the new kind.

const (
	metadataKind    = "PartialObjectMetadataList"
	metadataVersion = "meta.k8s.io/v1"
)

// builtinKind returns the kind of the resource's lists, for example "PodList", or "" if the resource is not built in.
func (r *Resource) builtinKind() string {
	if r.Raw != "" {
		return ""
	}
	for b := range builtin.All() {
		if b.Plural == r.Plural && b.Group == r.Group && b.Version == r.Version {
			return b.Kind + "List"
		}
	}
	return ""
}

// errWrongList reports a list of another resource.
var errWrongList error = &jsonscan.SyntaxError{Expected: "a list of this resource", Found: "another kind or apiVersion", Err: ErrNotList}

// checkItem returns an error if an item belongs to a list of another resource. It uses the list's kind and apiVersion
// if they precede the items. A list of custom resources sends its kind after the items, so checkItem then infers the
// kind from the item. A list of kind "List" may contain any items. If no kind is known yet and the caller has no objects
// to lose, checkItem accepts every item.
func (c *Client[T]) checkItem(ctx context.Context, opts *ListOptions, meta *ListMeta, item *Scanned) error {
	if meta.apiVersion != "" && !c.matchesVersion(meta) {
		return errWrongList
	}
	if meta.kind != "" {
		return c.checkKind(ctx, opts, meta.kind)
	}
	known, own := c.kind.Load(), item.bytes(item.kind)
	switch {
	case len(own) == 0 || known != nil && *known == "List":
		return nil
	case known == nil && !opts.replaces:
		c.learnKind(item)
		return nil
	case known == nil || string(own)+"List" != *known:
		if err := c.checkKind(ctx, opts, string(own)+"List"); err != nil {
			return err
		}
	}
	meta.owned = true
	return nil
}

// checkList checks the apiVersion and kind of a complete list. It remembers the kind, so that later lists must have the
// same kind. A CustomResourceDefinition can give its lists any kind, so the kinds of the items decide if they are known.
func (c *Client[T]) checkList(ctx context.Context, opts *ListOptions, meta *ListMeta) error {
	if !c.matchesVersion(meta) {
		return errWrongList
	}
	first := !opts.replaces && c.listKind.Load() == nil
	if meta.kind != "" && (meta.owned || first) && c.resource.Raw == "" && c.resource.builtinKind() == "" {
		c.listKind.Store(&meta.kind)
	} else if err := c.checkKind(ctx, opts, meta.kind); err != nil {
		return err
	}
	if c.kind.Load() == nil && meta.kind != metadataKind {
		c.kind.Store(&meta.kind)
	}
	return nil
}

// matchesVersion reports whether a list's apiVersion fits the resource. A list at a raw path may have any apiVersion.
// Only a client that requests metadata accepts a list of metadata.
func (c *Client[T]) matchesVersion(meta *ListMeta) bool {
	switch r := &c.resource; {
	case meta.apiVersion == metadataVersion || meta.kind == metadataKind:
		return c.opts.MetadataOnly && meta.apiVersion == metadataVersion && meta.kind == metadataKind
	case r.Raw != "":
		return true
	case r.Group != "":
		return meta.apiVersion == r.Group+"/"+r.Version
	default:
		return meta.apiVersion == r.Version
	}
}

// checkKind returns nil if kind is the kind of the collection's lists. For a custom resource, it asks the server in two
// cases: the kind differs from the known kind, or the kind is unknown and the list would replace objects that the
// caller already has.
func (c *Client[T]) checkKind(ctx context.Context, opts *ListOptions, kind string) error {
	known, other := c.kind.Load(), c.listKind.Load()
	switch {
	case other != nil && *other == kind:
		return nil
	case !strings.HasSuffix(kind, "List"):
		return errWrongList
	case kind == metadataKind && c.opts.MetadataOnly, known != nil && *known == kind:
		return nil
	case known == nil && (!opts.replaces || c.resource.Raw != ""):
		return nil
	case c.resource.Raw != "" || c.resource.builtinKind() != "":
		return errWrongList
	}
	if opts.charge != nil {
		opts.charge()
	}
	confirmed, err := c.resource.discoverKind(ctx, c.transport)
	switch {
	case err != nil && known == nil && statusCode(err)/100 == 4 && faultOf(err) != overload:
		// A server without discovery cannot confirm the kind, so the list is accepted.
	case err != nil:
		return err
	case confirmed != kind:
		return errWrongList
	}
	c.kind.Store(&kind)
	c.listKind.Store(nil)
	return nil
}

// maxDiscovery limits the size of a resource list in bytes, because a hostile server could send an endless one.
const maxDiscovery = 8 << 20

// discoverKind asks the server for the resource's kind, and returns the corresponding kind of lists. It returns "" if
// the server does not have the resource.
func (r *Resource) discoverKind(ctx context.Context, transport Transport) (string, error) {
	path, _ := Resource{Group: r.Group, Version: r.Version}.path() // ends with a slash, without a plural
	body, err := ContextTrace(ctx).open(ctx, transport, &Request{Path: strings.TrimSuffix(path, "/")})
	if err != nil {
		return "", err
	}
	defer body.Close()
	text, err := io.ReadAll(io.LimitReader(body, maxDiscovery+1)) // one more byte shows that the list is too large
	if err == nil && len(text) > maxDiscovery {
		err = &jsonscan.SyntaxError{Offset: maxDiscovery, Expected: "a resource list of at most 8 MiB", Found: "a larger one", Err: ErrTooLarge}
	}
	if err != nil {
		return "", err
	}
	document, err := ParseValue(text)
	if err != nil {
		return "", err
	}
	for resource := range document.Get("resources").Elements() {
		if resource.Get("name").String() == r.Plural {
			return resource.Get("kind").String() + "List", nil
		}
	}
	return "", nil
}

// checkStreamingList is like checkList, but for a streaming list. It uses the kind and apiVersion of the bookmark at the
// end of the list. In an empty list, only this bookmark shows to which collection the list belongs.
func (c *Client[T]) checkStreamingList(ctx context.Context, opts *ListOptions, bookmark *Scanned) error {
	known, own := c.kind.Load(), cmp.Or(bookmark.endKind, string(bookmark.bytes(bookmark.kind)))
	if own == "" || c.opts.MetadataOnly || known != nil && *known == "List" {
		return nil
	}
	if version := string(bookmark.bytes(bookmark.apiVersion)); version != "" && !c.matchesVersion(&ListMeta{apiVersion: version}) {
		return errWrongList
	}
	if err := c.checkKind(ctx, opts, own+"List"); err == errWrongList {
		return &jsonscan.SyntaxError{Expected: "a streaming list of this resource", Found: "an object of kind " + shorten([]byte(own)), Err: ErrNotList}
	} else if err != nil {
		return err
	}
	c.learnKind(bookmark)
	return nil
}

// learnKind remembers the kind of a watch event's object, because a stream may start with a watch or a streaming list. A
// later list of another kind must not replace the stream's objects.
func (c *Client[T]) learnKind(o *Scanned) {
	if c.kind.Load() != nil || o.kind.End == 0 || c.opts.MetadataOnly {
		return
	}
	if r := &c.resource; r.Raw == "" && c.matchesVersion(&ListMeta{apiVersion: string(o.bytes(o.apiVersion))}) {
		kind := string(o.bytes(o.kind)) + "List"
		c.kind.Store(&kind)
	}
}

// forgetKind forgets the collection's kind if err shows that the server no longer has the collection. The collection
// may be created again with another kind.
func (c *Client[T]) forgetKind(err error) {
	if statusCode(err) == 404 && c.resource.builtinKind() == "" {
		c.kind.Store(nil)
		c.listKind.Store(nil)
	}
}
