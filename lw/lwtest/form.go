package lwtest

import (
	"fmt"
	"mime"
	"net/http"
	"slices"
	"strings"
)

// form is the shape in which a client asks for objects.
type form int

const (
	fullForm    form = iota
	partialForm      // PartialObjectMetadata: only the metadata
	tableForm        // Table: cells for people, and the object as includeObject says
)

// negotiate reads Accept. Clauses are taken in the client's order. ok is false if nothing the client accepts is to be had.
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

// kind is the kind and apiVersion of a single object in this form.
func (f form) kind(res *Resource) (kind, apiVersion string) {
	if f == partialForm {
		return "PartialObjectMetadata", "meta.k8s.io/v1"
	}
	return res.Kind, res.apiVersion()
}

// sorted says whether the keys of lists and objects are sorted, as a custom resource's are.
func (f form) sorted(res *Resource) bool { return f != partialForm && !res.builtin }

// item is an object as a list shows it.
func (f form) item(o *object) []byte {
	if f == partialForm {
		return o.partial()
	}
	return o.listed()
}

// object is an object as a watch or GET shows it.
func (f form) object(res *Resource, o *object) []byte {
	if f == partialForm {
		return o.partial()
	}
	return o.whole(res)
}

func (o *object) partial() []byte {
	return partialObject(o.metadata())
}

func partialObject(meta []byte) []byte {
	return slices.Concat([]byte(`{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":`), meta, []byte("}"))
}

// bookmark is the object of a BOOKMARK event; end marks the one that ends a streaming list.
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
