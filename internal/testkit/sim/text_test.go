package sim

import (
	"fmt"
	"strings"

	"github.com/seed-6d2a410a/listwatch/internal/revlog"
)

const kindAndVersion = `"kind":"ConfigMap","apiVersion":"v1",`

// value is a stored object.
type value struct {
	uid  string
	data string // contains JSON escapes
}

// text returns the JSON that clients should store for the object.
func (v value) text(key string, revision int64) string {
	return "{" + kindAndVersion + v.members(key, revision, "")
}

// members returns the rest of the object's JSON after kind and apiVersion, which items of a list do not have.
func (v value) members(key string, revision int64, managedFields string) string {
	namespace, name, _ := strings.Cut(key, "/")
	return fmt.Sprintf(`"metadata":{"name":%q,"namespace":%q,"uid":%q,"resourceVersion":"%d"%s},"data":{"v":"%s"}}`,
		name, namespace, v.uid, revision, managedFields, v.data)
}

const managed = `,"managedFields":[{"manager":"sim","fieldsV1":{"f:data":{"f:}{":{}}}}]`

func eventText(kind, object string) string {
	return `{"type":"` + kind + `","object":` + object + "}\n"
}

var eventKinds = [...]string{revlog.Created: "ADDED", revlog.Updated: "MODIFIED", revlog.Deleted: "DELETED"}

func entryEvent(kind string, e revlog.Entry[value]) string {
	return eventText(kind, "{"+kindAndVersion+e.Value.members(e.Key, e.Revision, managed))
}

// bookmark returns a bookmark event as a line of JSON. mark is the value of the initial-events-end annotation, or ""
// for none.
func bookmark(revision int64, mark string) string {
	if mark != "" {
		mark = `,"annotations":{"k8s.io/initial-events-end":"` + mark + `"}`
	}
	return eventText("BOOKMARK", fmt.Sprintf(`{%s"metadata":{"resourceVersion":"%d"%s}}`, kindAndVersion, revision, mark))
}

// listText returns a list as a line of JSON. If metadataLast is set, the list has the format of a list of custom
// resources.
func listText(items []revlog.Entry[value], revision int64, token string, metadataLast bool) string {
	metadata := fmt.Sprintf(`"metadata":{"resourceVersion":"%d","continue":%q}`, revision, token)
	texts := make([]string, len(items))
	for i, item := range items {
		head := "{"
		if metadataLast {
			head += kindAndVersion
		}
		texts[i] = head + item.Value.members(item.Key, item.Revision, managed)
	}
	array := `"items":[` + strings.Join(texts, ",") + "]"
	if metadataLast {
		return `{"apiVersion":"v1",` + array + `,"kind":"ConfigMapList",` + metadata + "}\n"
	}
	return `{"kind":"ConfigMapList","apiVersion":"v1",` + metadata + "," + array + "}\n"
}

// status returns the JSON of a Status. more contains additional members.
func status(code int, reason, message, more string) string {
	return fmt.Sprintf(`{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":%q,"reason":%q%s,"code":%d}`,
		message, reason, more, code)
}

const tooLarge = `,"details":{"causes":[{"reason":"ResourceVersionTooLarge","message":"Too large resource version"}],"retryAfterSeconds":1}`
