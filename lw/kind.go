package lw

import (
	"cmp"
	"context"
	"io"
	"strings"

	"github.com/seed-6d2a410a/listwatch/internal/builtin"
	"github.com/seed-6d2a410a/listwatch/lw/internal/jsonscan"
)

// A proxy may answer with a list of another collection, which would delete all objects from a store. The client detects
// such a list by its kind. The kind of a built-in resource never changes. For a custom resource, the client remembers
// the kind of the first list or watch event.
//
// A CustomResourceDefinition may be deleted and created again with another kind. The client therefore accepts a new
// kind after a 404 for the collection, or if the server's resource list contains the new kind.
//
// A CustomResourceDefinition can also give its lists any kind, such as "Catalog" for Widgets. The items then show that the
// list belongs to the resource, and the client remembers the list's kind, because a later list may have no items.

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
// to lose, checkItem accepts every item and remembers its kind.
func (c *collection) checkItem(ctx context.Context, opts *ListOptions, meta *ListMeta, item *Scanned) error {
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
	meta.verified = true
	return nil
}

// checkList checks the apiVersion and kind of a complete list. It remembers the kind, so that later lists must have the
// same kind. For a custom resource, it accepts any kind if checkItem has verified the items, or if this is the client's
// first list and the caller has no objects to lose.
func (c *collection) checkList(ctx context.Context, opts *ListOptions, meta *ListMeta) error {
	if !c.matchesVersion(meta) {
		return errWrongList
	}
	first := !opts.replaces && c.listKind.Load() == nil
	if meta.kind != "" && (meta.verified || first) && c.resource.Raw == "" && c.resource.builtinKind() == "" {
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
func (c *collection) matchesVersion(meta *ListMeta) bool {
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

// checkKind returns nil if kind is the kind of the collection's lists, or the kind of the last list. For a custom resource
// with any other kind, it asks the server in two cases: the kind differs from the known kind, or no kind is known and the
// list would replace objects that the caller already has.
func (c *collection) checkKind(ctx context.Context, opts *ListOptions, kind string) error {
	known, last := c.kind.Load(), c.listKind.Load()
	switch {
	case last != nil && *last == kind:
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
	confirmed, err := c.discoverKind(ctx)
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
func (c *collection) discoverKind(ctx context.Context) (string, error) {
	path, _ := Resource{Group: c.resource.Group, Version: c.resource.Version}.path() // ends with a slash, without a plural
	body, err := ContextTrace(ctx).open(ctx, c.transport, &Request{Path: strings.TrimSuffix(path, "/")})
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
		if resource.Get("name").String() == c.resource.Plural {
			return resource.Get("kind").String() + "List", nil
		}
	}
	return "", nil
}

// checkStreamingList is like checkList, but for a streaming list. It uses the kind and apiVersion of the bookmark at the
// end of the list. In an empty list, only this bookmark shows to which collection the list belongs.
func (c *collection) checkStreamingList(ctx context.Context, opts *ListOptions, bookmark *Scanned) error {
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

// learnKind remembers the kind of an object, because a stream may start with a watch or a streaming list, and the list of a
// custom resource may have another kind than its items. A later list of other objects must not replace the stream's objects.
func (c *collection) learnKind(o *Scanned) {
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
func (c *collection) forgetKind(err error) {
	if statusCode(err) == 404 && c.resource.builtinKind() == "" {
		c.kind.Store(nil)
		c.listKind.Store(nil)
	}
}
