package lw

import "errors"

// metaVersion is the apiVersion of lists that are not of the resource's own types, such as PartialObjectMetadataList.
const metaVersion = "meta.k8s.io/v1"

// checkList returns an error unless a list that was read to its end is one of this resource: its kind ends in List and is
// the kind of the lists before it, and its apiVersion is the resource's. Any other object with items would empty a store.
func (c *Client[T]) checkList(meta *ListMeta) error {
	if kind, known := c.server.kind.Load(), meta.Kind; !isListKind(known) || kind != nil && *kind != known {
		return notThisList("kind", known)
	}
	if !c.ownVersion(meta.APIVersion) {
		return notThisList("apiVersion", meta.APIVersion)
	}
	if c.server.kind.Load() == nil {
		kind := meta.Kind
		c.server.kind.Store(&kind)
	}
	return nil
}

// checkItem returns an error if a list is already known to be of another resource when one of its items arrives. Lists of
// custom resources name their kind behind the items; then the item's own kind tells.
func (c *Client[T]) checkItem(meta *ListMeta, item *Scanned) error {
	kind := c.server.kind.Load()
	switch {
	case meta.APIVersion != "" && !c.ownVersion(meta.APIVersion):
		return notThisList("apiVersion", meta.APIVersion)
	case meta.Kind != "" && (!isListKind(meta.Kind) || kind != nil && *kind != meta.Kind):
		return notThisList("kind", meta.Kind)
	case meta.Kind == "" && kind != nil && *kind != "List":
		if own := item.bytes(item.kind); len(own) > 0 && string(own)+"List" != *kind {
			return notThisList("an item's kind", string(own))
		}
	}
	return nil
}

// ownVersion reports whether a list of this resource may have an apiVersion. A raw path may lead to any.
func (c *Client[T]) ownVersion(apiVersion string) bool {
	r := &c.resource
	own := r.Version
	if r.Group != "" {
		own = r.Group + "/" + r.Version
	}
	return r.Raw != "" || apiVersion == own || apiVersion == metaVersion
}

func isListKind(kind string) bool {
	const suffix = "List"
	return len(kind) >= len(suffix) && kind[len(kind)-len(suffix):] == suffix
}

func notThisList(field, found string) error {
	return &MalformedError{Expected: "a list of this resource", Found: field + " " + shorten([]byte(found)), Err: ErrNotList}
}

// gone forgets the lists' kind when the server does not know the collection, because it may come back with another kind.
func (s *support) gone(err error) {
	if errors.Is(err, ErrNotFound) {
		s.kind.Store(nil)
	}
}
