package lw

import (
	"context"
	"io"
	"strings"

	"github.com/seed-6d2a410a/listwatch/internal/builtin"
	"github.com/seed-6d2a410a/listwatch/lw/internal/jsonscan"
)

// A list of another collection, for example from a proxy or a captive portal, could empty a store. Its kind reveals it.
// The kind of a built-in resource never changes. The kind of a custom resource is the kind of its first list or watch
// event. Only the server can replace it, either with a 404 for the collection or with the resource list of its group
// and version, because a CustomResourceDefinition may be deleted and created with another kind.

const (
	metadataKind    = "PartialObjectMetadataList"
	metadataVersion = "meta.k8s.io/v1"
)

// builtinKind returns the kind of the resource's lists, for example "PodList", or "" if the resource is not built in.
func (r *Resource) builtinKind() string {
	if r.Raw != "" {
		return ""
	}
	for i := range builtin.Resources {
		if b := &builtin.Resources[i]; b.Plural == r.Plural && b.Group == r.Group && b.Version == r.Version {
			return b.Kind + "List"
		}
	}
	return ""
}

// checkItem checks an item against the members before the first item. Lists of custom resources send their kind after
// the items, so checkItem then derives the kind of the list from the item.
func (c *Client[T]) checkItem(ctx context.Context, opts *ListOptions, meta *ListMeta, item *Scanned) error {
	if meta.apiVersion != "" && !c.matchesVersion(meta) {
		return ErrNotList
	}
	if meta.kind != "" {
		return c.checkKind(ctx, opts, meta, meta.kind)
	}
	known, own := c.kind.Load(), item.bytes(item.kind)
	if len(own) == 0 || known != nil && (*known == "List" || string(own)+"List" == *known) || known == nil && !opts.replaces {
		return nil
	}
	return c.checkKind(ctx, opts, meta, string(own)+"List")
}

// checkList checks a complete list and remembers its kind.
func (c *Client[T]) checkList(ctx context.Context, opts *ListOptions, meta *ListMeta) error {
	if !c.matchesVersion(meta) {
		return ErrNotList
	}
	if err := c.checkKind(ctx, opts, meta, meta.kind); err != nil {
		return err
	}
	if c.kind.Load() == nil && meta.kind != metadataKind {
		c.kind.Store(&meta.kind)
	}
	return nil
}

// matchesVersion reports whether the apiVersion of a list fits the resource. A list at a raw path may have any
// apiVersion. Only a client that requests metadata accepts metadata.
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

// checkKind returns nil if kind is the kind of the collection's lists. If the kind is unknown or has changed, checkKind
// may ask the server.
func (c *Client[T]) checkKind(ctx context.Context, opts *ListOptions, meta *ListMeta, kind string) error {
	known := c.kind.Load()
	switch {
	case !strings.HasSuffix(kind, "List"):
		return ErrNotList
	case kind == metadataKind && c.opts.MetadataOnly, known != nil && *known == kind:
		return nil
	case known == nil && (!opts.replaces || c.resource.Raw != ""):
		return nil
	case c.resource.Raw != "" || c.resource.builtinKind() != "":
		return ErrNotList
	}
	meta.confirmed = true
	confirmed, err := c.discoverKind(ctx)
	switch {
	case err != nil && known == nil && statusCode(err)/100 == 4 && faultOf(err) != overload: // the server has no discovery
	case err != nil:
		return err
	case confirmed != kind:
		return ErrNotList
	}
	c.kind.Store(&kind)
	return nil
}

// maxDiscovery limits the size of a resource list, in bytes.
const maxDiscovery = 8 << 20

// discoverKind requests the resource list of the resource's group and version. It returns the kind of the resource's
// lists, or "" if the server does not have the resource.
func (c *Client[T]) discoverKind(ctx context.Context) (string, error) {
	path, _ := Resource{Group: c.resource.Group, Version: c.resource.Version}.path()
	body, err := ContextTrace(ctx).open(ctx, c.transport, &Request{Path: strings.TrimSuffix(path, "/")})
	if err != nil {
		return "", err
	}
	defer body.Close()
	text, err := io.ReadAll(io.LimitReader(body, maxDiscovery))
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

// checkStreamingList returns an error if the bookmark at the end of a streaming list has another kind than the collection.
// If such a list is empty, nothing else shows that it belongs to another collection.
func (c *Client[T]) checkStreamingList(bookmark *Scanned) error {
	known, own := c.kind.Load(), string(bookmark.bytes(bookmark.kind))
	if known == nil || own == "" || c.opts.MetadataOnly || *known == "List" || own+"List" == *known {
		return nil
	}
	return &MalformedError{expected: "a streaming list of this resource", found: "an object of kind " + shorten([]byte(own)), err: ErrNotList}
}

// learnKind remembers the kind of a watch event's object, so that a list of another kind cannot replace the objects of a
// watch that no ordinary list has preceded.
func (c *Client[T]) learnKind(o *Scanned) {
	if c.kind.Load() != nil || o.kind.End == 0 || c.opts.MetadataOnly {
		return
	}
	if r := &c.resource; r.Raw == "" && c.matchesVersion(&ListMeta{apiVersion: string(o.bytes(o.apiVersion))}) {
		kind := string(o.bytes(o.kind)) + "List"
		c.kind.Store(&kind)
	}
}

// forgetKind forgets the kind of a collection that the server does not have, because it may return with another kind.
func (c *Client[T]) forgetKind(err error) {
	if statusCode(err) == 404 && c.resource.builtinKind() == "" {
		c.kind.Store(nil)
	}
}

// wrongList records an error for a list that belongs to another resource. It returns false.
func (s scanner) wrongList() bool {
	return s.Fail(&jsonscan.SyntaxError{Offset: s.Offset(s.Pos()), Expected: "a list of this resource", Found: "another kind or apiVersion", Err: ErrNotList})
}
