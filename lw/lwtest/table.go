package lwtest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// Column is a Table column that follows the name column. It corresponds to an additional printer column of a
// CustomResourceDefinition.
type Column struct {
	Name     string // for example "Replicas"
	Type     string // Table column type, for example "string" (default), "integer" or "date" (shown as an age)
	Path     string // field path, for example ".spec.replicas"
	Priority int    // if greater than zero, kubectl shows the column only with -o wide
}

// ageColumn is the column of a resource that does not define columns.
var ageColumn = []Column{{Name: "Age", Type: "date", Path: ".metadata.creationTimestamp"}}

// tables encodes the Tables of one response. Only the first Table of a watch has column definitions.
type tables struct {
	res     *Resource
	include string // value of includeObject: "Object", "Metadata" or "None"
	headed  bool
}

// tables returns an encoder for Tables, or nil if the client did not request Tables.
func (f form) tables(res *Resource, values url.Values) (*tables, error) {
	if f != tableForm {
		return nil, nil
	}
	t := &tables{res: res, include: values.Get("includeObject")}
	switch t.include {
	case "":
		t.include = "Metadata"
	case "Object", "Metadata", "None":
	default:
		return nil, badRequest("Unable to convert to Table as requested: includeObject: Invalid value: %q: must be 'Metadata', 'Object', 'None', or empty", t.include)
	}
	return t, nil
}

func (t *tables) columns() []Column {
	if t.res.Columns == nil {
		return ageColumn
	}
	return t.res.Columns
}

// encode returns an encoded Table with one row per object.
func (t *tables) encode(meta []byte, objects ...[]byte) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, `{"kind":"Table","apiVersion":"meta.k8s.io/v1","metadata":%s,"columnDefinitions":%s,"rows":[`, meta, t.definitions())
	for i, o := range objects {
		if i > 0 {
			b.WriteByte(',')
		}
		shown := o
		switch t.include {
		case "None":
			shown = []byte("null")
		case "Metadata":
			shown = partialObject(metadataOf(o))
		}
		fmt.Fprintf(&b, `{"cells":%s,"object":%s}`, marshal(t.cells(o)), shown)
	}
	b.WriteString("]}")
	return b.Bytes()
}

// object returns an encoded Table with the encoded object o as its only row.
func (t *tables) object(o []byte) []byte {
	meta, _ := metadata(mustDecode(o)) // an encoded object always has metadata
	return t.encode(marshal(fields{"resourceVersion": text(meta, "resourceVersion")}), o)
}

// bookmark returns the encoded Table of a BOOKMARK event. It includes the metadata even for includeObject=None, because
// the client needs the resourceVersion.
func (t *tables) bookmark(o []byte) []byte {
	if t.include != "None" {
		return t.object(o)
	}
	t.include = "Metadata"
	defer func() { t.include = "None" }()
	return t.object(o)
}

// definitions returns the encoded column definitions on the first call, and null on later calls.
func (t *tables) definitions() []byte {
	if t.headed {
		return []byte("null")
	}
	t.headed = true
	var b bytes.Buffer
	b.WriteString(`[{"name":"Name","type":"string","format":"name","description":"","priority":0}`)
	for _, c := range t.columns() {
		kind := c.Type
		if kind == "" || t.res.builtin {
			kind = "string"
		}
		fmt.Fprintf(&b, `,{"name":%s,"type":%q,"format":"","description":"","priority":%d}`, marshal(c.Name), kind, c.Priority)
	}
	b.WriteByte(']')
	return b.Bytes()
}

func (t *tables) cells(o []byte) []any {
	f := mustDecode(o)
	meta, _ := metadata(f) // an encoded object always has metadata
	cells := []any{text(meta, "name")}
	for _, c := range t.columns() {
		value := at(f, c.Path)
		switch {
		case c.Type != "date":
		case value != nil:
			value = ageOf(value)
		case t.res.builtin:
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

func mustDecode(object []byte) fields {
	f, err := decodeFields(object)
	if err != nil {
		panic("lwtest: decode a stored object: " + err.Error())
	}
	return f
}

// metadataOf returns the encoded metadata of an encoded object.
func metadataOf(object []byte) []byte {
	var o struct{ Metadata json.RawMessage }
	if err := json.Unmarshal(object, &o); err != nil {
		panic("lwtest: decode the metadata of an object: " + err.Error())
	}
	return o.Metadata
}
