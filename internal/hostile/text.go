package hostile

import (
	"strconv"
	"strings"
)

// ConfigMap is the beginning of a ConfigMap's JSON, without the opening brace. A server omits it in list items.
const ConfigMap = `"kind":"ConfigMap","apiVersion":"v1",`

// TooLarge contains the Status details for a resourceVersion that the server has not reached yet. Pass it to
// [Status] as more.
const TooLarge = `,"details":{"causes":[{"reason":"ResourceVersionTooLarge","message":"Too large resource version"}],"retryAfterSeconds":1}`

// Event returns a watch event as a line of JSON.
func Event(eventType, object string) string {
	return `{"type":"` + eventType + `","object":` + object + "}\n"
}

// Bookmark returns a bookmark event as a line of JSON. `end` is the value of its initial-events-end annotation, or ""
// for no annotation.
func Bookmark(version, end string) string {
	if end != "" {
		end = `,"annotations":{"k8s.io/initial-events-end":"` + end + `"}`
	}
	return Event("BOOKMARK", "{"+ConfigMap+`"metadata":{"resourceVersion":"`+version+`"`+end+"}}")
}

// List returns a list as a line of JSON. items are in JSON, too.
func List(version, token string, items []string) string {
	return `{"kind":"ConfigMapList","apiVersion":"v1",` + listMetadata(version, token) + "," + listItems(items) + "}\n"
}

// MetadataLast returns a list whose metadata follows its items, as in lists of custom resources.
func MetadataLast(version, token string, items []string) string {
	return `{"apiVersion":"v1",` + listItems(items) + `,"kind":"ConfigMapList",` + listMetadata(version, token) + "}\n"
}

func listMetadata(version, token string) string {
	return `"metadata":{"resourceVersion":"` + version + `","continue":` + strconv.Quote(token) + "}"
}

func listItems(items []string) string { return `"items":[` + strings.Join(items, ",") + "]" }

// Object returns a ConfigMap as JSON without kind and apiVersion, like a list item. name, uid and data must not need
// escapes in JSON. `more` contains additional members for the metadata, each after a comma, or "".
func Object(namespace, name, uid, version, more, data string) string {
	return `{"metadata":{"name":"` + name + `","namespace":"` + namespace + `","uid":"` + uid + `","resourceVersion":"` + version + `"` + more + `},"data":{"v":"` + data + `"}}`
}

// Typed adds a ConfigMap's kind and apiVersion to a list item.
func Typed(item string) string { return "{" + ConfigMap + item[1:] }

// Status returns the JSON for a Status that reports a failure. `more` contains additional members, each after a
// comma, or "".
func Status(code int, reason, message, more string) string {
	return `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":` + strconv.Quote(message) +
		`,"reason":` + strconv.Quote(reason) + more + `,"code":` + strconv.Itoa(code) + "}"
}
