package sim

import (
	"strconv"
	"strings"

	"github.com/seed-6d2a410a/listwatch/internal/hostile"
	"github.com/seed-6d2a410a/listwatch/internal/revlog"
)

// value is a stored object.
type value struct {
	uid  string
	data string // contains JSON escapes
}

const managed = `,"managedFields":[{"manager":"sim","fieldsV1":{"f:data":{"f:}{":{}}}}]`

// text returns the JSON that clients should store for the object.
func (v value) text(key string, revision int64) string {
	return hostile.Typed(v.item(key, revision, ""))
}

// item returns the object's JSON without kind and apiVersion, like a list item.
func (v value) item(key string, revision int64, managedFields string) string {
	namespace, name, _ := strings.Cut(key, "/")
	return hostile.Object(namespace, name, v.uid, strconv.FormatInt(revision, 10), managedFields, v.data)
}

var eventKinds = [...]string{revlog.Created: "ADDED", revlog.Updated: "MODIFIED", revlog.Deleted: "DELETED"}

func entryEvent(kind string, e revlog.Entry[value]) string {
	return hostile.Event(kind, hostile.Typed(e.Value.item(e.Key, e.Revision, managed)))
}

// bookmark returns a bookmark event. mark is the value of its initial-events-end annotation, or "" for none.
func bookmark(revision int64, mark string) string {
	return hostile.Bookmark(strconv.FormatInt(revision, 10), mark)
}

// listText returns a list. If metadataLast is set, the metadata comes last, as in lists of custom resources.
func listText(entries []revlog.Entry[value], revision int64, token string, metadataLast bool) string {
	items, format := make([]string, len(entries)), hostile.List
	for i, e := range entries {
		if items[i] = e.Value.item(e.Key, e.Revision, managed); metadataLast {
			items[i] = hostile.Typed(items[i])
		}
	}
	if metadataLast {
		format = hostile.MetadataLast
	}
	return format(strconv.FormatInt(revision, 10), token, items)
}
