package lwtest

import (
	"bytes"
	"fmt"
	"iter"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// form is the representation of objects that a client requests with the Accept header.
type form int

const (
	fullForm    form = iota
	partialForm      // objects as PartialObjectMetadata
	tableForm        // objects as rows of a Table
)

// view encodes the objects of one response in the form that the client requested.
type view struct {
	res     *resource
	form    form
	include string // objects in the rows of a Table: "Object", "Metadata" or "None"
	headed  bool   // whether a Table has been encoded; only the first Table of a watch has column definitions
}

// newView returns the view for the first supported media type in the Accept header.
func newView(r *http.Request, res *resource) (*view, error) {
	form, ok := negotiate(r)
	if !ok {
		return nil, newError(http.StatusNotAcceptable, "NotAcceptable", "only the following media types are accepted: application/json, application/json;stream=watch")
	}
	v := &view{res: res, form: form, include: "Metadata"}
	if given := r.URL.Query().Get("includeObject"); form == tableForm && given != "" {
		if v.include = given; !slices.Contains([]string{"Object", "Metadata", "None"}, given) {
			return nil, badRequest("Unable to convert to Table as requested: includeObject: Invalid value: %q: must be 'Metadata', 'Object', 'None', or empty", given)
		}
	}
	return v, nil
}

func negotiate(r *http.Request) (f form, ok bool) {
	for media := range accepted(r) {
		switch media["as"] {
		case "":
			return fullForm, true
		case "PartialObjectMetadata", "PartialObjectMetadataList":
			return partialForm, true
		case "Table":
			if media["g"] == "meta.k8s.io" && media["v"] == "v1" {
				return tableForm, true
			}
		}
	}
	return fullForm, r.Header.Get("Accept") == ""
}

// accepted yields the parameters of those media types in the Accept header that permit JSON.
func accepted(r *http.Request) iter.Seq[map[string]string] {
	return func(yield func(map[string]string) bool) {
		for clause := range strings.SplitSeq(strings.Join(r.Header.Values("Accept"), ","), ",") {
			media, params, err := mime.ParseMediaType(clause)
			if err == nil && slices.Contains([]string{"application/json", "application/*", "*/*"}, media) && !yield(params) {
				return
			}
		}
	}
}

// object returns an object encoded for a watch event or a GET response.
func (v *view) object(o *object) []byte {
	switch v.form {
	case partialForm:
		return o.partial()
	case tableForm:
		return v.table(marshal(fields{"resourceVersion": o.version}), o)
	}
	return o.whole(v.res)
}

// bookmark returns the encoded object of a BOOKMARK event. If end is set, the object has the initial-events-end
// annotation.
func (v *view) bookmark(revision int64, end bool) []byte {
	meta := fields{"resourceVersion": strconv.FormatInt(revision, 10)}
	if end {
		meta["annotations"] = fields{"k8s.io/initial-events-end": "true"}
	}
	f := fields{"metadata": meta}
	if !v.res.builtin { // for built-in types, whole adds these fields
		f["kind"], f["apiVersion"] = v.res.kind, v.res.apiVersion()
	}
	return v.object(mustEncode(v.res, f, nil))
}

// list returns the page as kube-apiserver would encode it, with the same key order.
func (v *view) list(p page) []byte {
	sorted := v.form == fullForm && !v.res.builtin // custom resources have sorted keys, so items come before metadata
	meta := fields{"resourceVersion": strconv.FormatInt(p.revision, 10)}
	if p.proceed != "" || sorted { // lists of custom resources also contain an empty continue
		meta["continue"] = p.proceed
	}
	if p.remaining != nil {
		meta["remainingItemCount"] = *p.remaining
	}
	encodedMeta := encodeOrdered(meta, []string{"resourceVersion", "continue"})
	kind, apiVersion := v.res.kind, v.res.apiVersion()
	switch v.form {
	case tableForm:
		return v.table(encodedMeta, p.objects...)
	case partialForm:
		kind, apiVersion = "PartialObjectMetadata", "meta.k8s.io/v1"
	}
	items := make([][]byte, len(p.objects))
	for i, o := range p.objects {
		if items[i] = o.item; v.form == partialForm {
			items[i] = o.partial()
		}
	}
	joined := bytes.Join(items, []byte(","))
	if sorted {
		return fmt.Appendf(nil, `{"apiVersion":%q,"items":[%s],"kind":"%sList","metadata":%s}`, apiVersion, joined, kind, marshal(meta))
	}
	return fmt.Appendf(nil, `{"kind":"%sList","apiVersion":%q,"metadata":%s,"items":[%s]}`, kind, apiVersion, encodedMeta, joined)
}

// column is a Table column, in the format of an additional printer column of a CustomResourceDefinition.
type column struct {
	Name     string // for example "Replicas"
	Type     string // "string" (default), "integer", "date" (shown as an age) and so on
	JSONPath string // field path, for example ".spec.replicas"
	Priority int    // if greater than zero, kubectl shows the column only with -o wide
}

// ageColumn is the default column. Tables use it if the definition of a resource has no printer columns.
var ageColumn = []column{{Name: "Age", Type: "date", JSONPath: ".metadata.creationTimestamp"}}

// table returns an encoded Table with one row per object. With includeObject=None, rows contain no metadata. The row of
// a bookmark is an exception, because the client needs its resourceVersion. A bookmark is recognized by an object
// without a name.
func (v *view) table(meta []byte, objects ...*object) []byte {
	rows := make([][]byte, len(objects))
	for i, o := range objects {
		shown := o.partial()
		switch {
		case v.include == "Object":
			shown = o.whole(v.res)
		case v.include == "None" && o.name != "":
			shown = []byte("null")
		}
		rows[i] = fmt.Appendf(nil, `{"cells":%s,"object":%s}`, marshal(v.res.cells(o)), shown)
	}
	return fmt.Appendf(nil, `{"kind":"Table","apiVersion":"meta.k8s.io/v1","metadata":%s,"columnDefinitions":%s,"rows":[%s]}`,
		meta, v.definitions(), bytes.Join(rows, []byte(",")))
}

// definitions returns the encoded column definitions on the first call, and null on later calls.
func (v *view) definitions() []byte {
	if v.headed {
		return []byte("null")
	}
	v.headed = true
	list := []byte(`[{"name":"Name","type":"string","format":"name","description":"","priority":0}`)
	for _, c := range v.res.columns {
		kind := c.Type
		if kind == "" || v.res.builtin { // for built-in resources, kube-apiserver sends even the age as a string
			kind = "string"
		}
		list = fmt.Appendf(list, `,{"name":%s,"type":%q,"format":"","description":"","priority":%d}`, marshal(c.Name), kind, c.Priority)
	}
	return append(list, ']')
}

func (r *resource) cells(o *object) []any {
	f, cells := o.decode(), []any{o.name}
	for _, c := range r.columns {
		value := at(f, c.JSONPath)
		switch {
		case c.Type != "date":
		case value != nil:
			value = ageOf(value)
		case r.builtin: // for custom resources, kube-apiserver sends null
			value = "<unknown>"
		}
		cells = append(cells, value)
	}
	return cells
}

// at returns the value at a path such as ".spec.replicas", or nil if there is no such value.
func at(f fields, path string) (value any) {
	value = f
	for name := range strings.SplitSeq(strings.TrimPrefix(path, "."), ".") {
		members, _ := value.(fields)
		value = members[name]
	}
	return value
}

// ageOf returns the rounded time since an RFC 3339 timestamp, for example "5m".
func ageOf(value any) string {
	created, _ := value.(string)
	since, err := time.Parse(time.RFC3339, created)
	if err != nil {
		return "<invalid>"
	}
	d := max(0, time.Since(since))
	in := func(unit time.Duration, name string) string { return strconv.Itoa(int(d/unit)) + name }
	switch day := 24 * time.Hour; {
	case d < 2*time.Minute:
		return in(time.Second, "s")
	case d < 3*time.Hour:
		return in(time.Minute, "m")
	case d < 2*day:
		return in(time.Hour, "h")
	default:
		return in(day, "d")
	}
}
