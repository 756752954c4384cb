package lw

import (
	"bytes"
	"encoding/json"
	"strconv"
)

// The functions in this file read events and lists with encoding/json, as the reference for fuzz tests. Member names
// are case-sensitive, as in Kubernetes. If a name occurs twice, the last value that is not null counts.

type refMember struct {
	name string
	text json.RawMessage
}

// refMembers returns the members of a JSON object in the order of the text. ok is false if text is not an object.
func refMembers(text []byte) (all []refMember, ok bool) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	if open, err := decoder.Token(); err != nil || open != json.Delim('{') {
		return nil, false
	}
	for decoder.More() {
		name, err := decoder.Token()
		if err != nil {
			return nil, false
		}
		m := refMember{name: name.(string)}
		if err := decoder.Decode(&m.text); err != nil {
			return nil, false
		}
		all = append(all, m)
	}
	return all, true
}

// refText returns the content of a JSON string. ok is false if text is not a string.
func refText(text []byte) (s string, ok bool) {
	return s, text[0] == '"' && json.Unmarshal(text, &s) == nil
}

func isNull(text []byte) bool { return string(text) == "null" }

// refObject holds the same metadata as a Scanned.
type refObject struct {
	name, namespace, uid, version, kind, apiVersion string
	initialEnd                                      bool
}

// set decodes a JSON string into *field. It ignores null. It returns false if text is neither a string nor null.
func set(field *string, text []byte) bool {
	if isNull(text) {
		return true
	}
	s, ok := refText(text)
	*field = s
	return ok
}

func (o *refObject) read(text []byte) bool {
	members, ok := refMembers(text)
	for _, m := range members {
		switch m.name {
		case "kind":
			ok = ok && set(&o.kind, m.text)
		case "apiVersion":
			ok = ok && set(&o.apiVersion, m.text)
		case "metadata":
			ok = ok && (isNull(m.text) || o.readMetadata(m.text))
		}
	}
	return ok
}

func (o *refObject) readMetadata(text []byte) bool {
	members, ok := refMembers(text)
	for _, m := range members {
		switch m.name {
		case "name":
			ok = ok && set(&o.name, m.text)
		case "namespace":
			ok = ok && set(&o.namespace, m.text)
		case "uid":
			ok = ok && set(&o.uid, m.text)
		case "resourceVersion":
			ok = ok && set(&o.version, m.text)
		case "annotations":
			ok = ok && (isNull(m.text) || o.readAnnotations(m.text))
		}
	}
	return ok
}

func (o *refObject) readAnnotations(text []byte) bool {
	members, ok := refMembers(text)
	for _, m := range members {
		if m.name == "k8s.io/initial-events-end" {
			value, isText := refText(m.text)
			o.initialEnd, ok = value == "true", ok && isText
		}
	}
	return ok
}

func refEvent(text []byte) (kind string, object refObject, ok bool) {
	members, ok := refMembers(text)
	found := false
	for _, m := range members {
		switch m.name {
		case "type":
			var isText bool
			kind, isText = refText(m.text)
			ok = ok && isText
		case "object":
			object, found = refObject{}, true
			ok = ok && object.read(m.text)
		}
	}
	needsName := kind == "ADDED" || kind == "MODIFIED" || kind == "DELETED"
	known := needsName || kind == "BOOKMARK" || kind == "ERROR"
	return kind, object, ok && found && known && (!needsName || object.name != "")
}

func refList(text []byte) (meta ListMeta, items []refObject, ok bool) {
	members, ok := refMembers(text)
	found := false
	free := func(field *string, text []byte) {
		*field = ""
		ok = ok && set(field, text)
	}
	for _, m := range members {
		switch m.name {
		case "kind":
			free(&meta.kind, m.text)
		case "apiVersion":
			free(&meta.apiVersion, m.text)
		case "items":
			found = true
			var all []json.RawMessage
			ok = ok && json.Unmarshal(m.text, &all) == nil && (isNull(m.text) || m.text[0] == '[')
			for _, text := range all {
				var item refObject
				ok = ok && text[0] == '{' && item.read(text) && item.name != ""
				items = append(items, item)
			}
		case "metadata":
			inner, isObject := refMembers(m.text)
			ok = ok && isObject
			for _, m := range inner {
				switch m.name {
				case "resourceVersion":
					free(&meta.ResourceVersion, m.text)
				case "continue":
					free(&meta.Continue, m.text)
				case "remainingItemCount":
					meta.RemainingItemCount = 0
					if n, err := strconv.ParseInt(string(m.text), 10, 64); err == nil {
						meta.RemainingItemCount = n
					}
				}
			}
		}
	}
	return meta, items, ok && found
}
