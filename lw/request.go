package lw

import (
	"strconv"
	"time"
)

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
	accept := c.mediaType()
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
