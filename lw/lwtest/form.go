package lwtest

import (
	"fmt"
	"mime"
	"net/http"
	"slices"
	"strings"
)

// form is the representation of objects that a client requests with the Accept header.
type form int

const (
	fullForm    form = iota
	partialForm      // objects as PartialObjectMetadata
	tableForm        // objects as rows of a Table
)

// negotiate returns the representation for the first supported media type in the Accept header. ok is false if the
// header contains no supported media type.
func negotiate(r *http.Request) (f form, ok bool) {
	accept := strings.Join(r.Header.Values("Accept"), ",")
	if accept == "" {
		return fullForm, true
	}
	for clause := range strings.SplitSeq(accept, ",") {
		media, params, err := mime.ParseMediaType(clause)
		if err != nil || !slices.Contains([]string{"application/json", "application/*", "*/*"}, media) {
			continue
		}
		switch params["as"] {
		case "":
			return fullForm, true
		case "PartialObjectMetadata", "PartialObjectMetadataList":
			return partialForm, true
		case "Table":
			if params["g"] == "meta.k8s.io" && params["v"] == "v1" {
				return tableForm, true
			}
		}
	}
	return fullForm, false
}

func notAcceptable() *apiStatus {
	return &apiStatus{
		Code: http.StatusNotAcceptable, Reason: "NotAcceptable", Details: &apiDetails{},
		Message: "only the following media types are accepted: application/json, application/json;stream=watch",
	}
}

// kind returns the kind and apiVersion of an object in this representation.
func (f form) kind(res *Resource) (kind, apiVersion string) {
	if f == partialForm {
		return "PartialObjectMetadata", "meta.k8s.io/v1"
	}
	return res.Kind, res.apiVersion()
}

// sorted reports whether all keys of an object are sorted, as in custom resources.
func (f form) sorted(res *Resource) bool { return f != partialForm && !res.builtin }

// item returns an object encoded as an item of a list.
func (f form) item(o *object) []byte {
	if f == partialForm {
		return o.partial()
	}
	return o.item
}

// object returns an object encoded for a watch event or a GET response.
func (f form) object(res *Resource, o *object) []byte {
	if f == partialForm {
		return o.partial()
	}
	return o.whole(res)
}

func (o *object) partial() []byte {
	return partialObject(o.meta)
}

func partialObject(meta []byte) []byte {
	return slices.Concat([]byte(`{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":`), meta, []byte("}"))
}

// bookmark returns the encoded object of a BOOKMARK event. If end is set, the object has the initial-events-end
// annotation.
func (f form) bookmark(res *Resource, revision int64, end bool) []byte {
	kind, apiVersion := f.kind(res)
	const mark = `"annotations":{"k8s.io/initial-events-end":"true"}`
	version := fmt.Sprintf(`"resourceVersion":"%d"`, revision)
	if f.sorted(res) {
		if end {
			version = mark + "," + version
		}
		return fmt.Appendf(nil, `{"apiVersion":%q,"kind":%q,"metadata":{%s}}`, apiVersion, kind, version)
	}
	if end {
		version += "," + mark
	}
	return fmt.Appendf(nil, `{"kind":%q,"apiVersion":%q,"metadata":{%s}}`, kind, apiVersion, version)
}
