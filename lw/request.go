package lw

import (
	"strconv"
	"time"
)

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
// managedFields. The header has at most 128 bytes, because browsers send a preflight request before a longer header.
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
