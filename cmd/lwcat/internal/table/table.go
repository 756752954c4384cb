// Package table asks a server for Tables, which have the columns that kubectl shows, and makes ordinary lists and watches of
// them: each object comes with the cells of its row.
package table

import (
	"cmp"
	"context"
	"encoding/json"
	"io"
	"strings"
	"sync"

	"github.com/seed-6d2a410a/listwatch/lw"
)

// Transport is a lw.Transport for one collection. A server that does not know Tables of it sends ordinary objects, which pass.
type Transport struct {
	over    lw.Transport
	include string

	mu      sync.Mutex
	columns []string
}

// New returns a transport that asks over another one, for whole objects or their metadata only.
func New(over lw.Transport, metadataOnly bool) *Transport {
	include := "Object"
	if metadataOnly {
		include = "Metadata"
	}
	return &Transport{over: over, include: include}
}

// Columns returns the columns' names, as the server last told them.
func (t *Transport) Columns() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.columns
}

// Cells returns the cells that came with an object, as a JSON array; "" if none did.
func Cells(o *lw.Object) lw.Value { return lw.Value(o.Raw()).Member(member) }

// member is what an object's cells are called in it, which is no name that a server gives.
const member = "lwcat.cells"

// Open implements lw.Transport.
func (t *Transport) Open(ctx context.Context, req *lw.Request) (io.ReadCloser, error) {
	asked := *req
	plain := cmp.Or(req.Accept, "application/json")
	drop := strings.TrimPrefix(plain, "application/json")
	asked.Accept = "application/json;as=Table;v=v1;g=meta.k8s.io" + drop + "," + plain
	if asked.Query != "" {
		asked.Query += "&"
	}
	asked.Query += "includeObject=" + t.include
	source, err := t.over.Open(ctx, &asked)
	if err != nil {
		return nil, err
	}
	b := &body{ReadCloser: source, tables: t}
	b.decoder = json.NewDecoder(source)
	b.next = b.page
	if req.Watch {
		b.next = b.frame
	}
	return b, nil
}

// wireTable is what of a Table matters.
type wireTable struct {
	Kind              string
	Metadata          json.RawMessage
	ColumnDefinitions []struct{ Name string }
	Rows              []struct{ Cells, Object json.RawMessage }
}

// body reads Tables and is read as lists, or as a watch.
type body struct {
	io.ReadCloser
	tables  *Transport
	decoder *json.Decoder
	next    func() ([]byte, error) // the next document
	rest    []byte                 // of one
}

func (b *body) Read(p []byte) (n int, err error) {
	for len(b.rest) == 0 {
		if b.rest, err = b.next(); err != nil {
			return 0, err
		}
	}
	n = copy(p, b.rest)
	b.rest = b.rest[n:]
	return n, nil
}

// page makes a list of a Table.
func (b *body) page() ([]byte, error) {
	var text json.RawMessage
	if err := b.decoder.Decode(&text); err != nil {
		return nil, err
	}
	table, ok := b.tables.read(text)
	if !ok {
		return text, nil
	}
	list := append([]byte(`{"kind":"List","apiVersion":"v1","metadata":`), table.Metadata...)
	list = append(list, `,"items":[`...)
	for i := range table.Rows {
		if i > 0 {
			list = append(list, ',')
		}
		list = table.appendObject(list, i)
	}
	return append(list, "]}\n"...), nil
}

// frame makes an event about an object of one about a Table.
func (b *body) frame() ([]byte, error) {
	var text json.RawMessage
	if err := b.decoder.Decode(&text); err != nil {
		return nil, err
	}
	var event struct {
		Type   string
		Object json.RawMessage
	}
	if json.Unmarshal(text, &event) != nil { // whoever reads on says what is wrong
		return append(text, '\n'), nil
	}
	table, ok := b.tables.read(event.Object)
	if !ok || len(table.Rows) != 1 {
		return append(text, '\n'), nil
	}
	kind, _ := json.Marshal(event.Type) // a string has no way to fail
	frame := append([]byte(`{"type":`), kind...)
	frame = append(frame, `,"object":`...)
	return append(table.appendObject(frame, 0), "}\n"...), nil
}

// read reads a Table, if it is one, and learns its columns if it names them.
func (t *Transport) read(text []byte) (table wireTable, ok bool) {
	if json.Unmarshal(text, &table) != nil || table.Kind != "Table" {
		return table, false
	}
	if table.ColumnDefinitions == nil {
		return table, true
	}
	columns := make([]string, len(table.ColumnDefinitions))
	for i, c := range table.ColumnDefinitions {
		columns[i] = c.Name
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.columns = columns
	return table, true
}

// appendObject appends a row's object, with the cells as its last member.
func (w *wireTable) appendObject(text []byte, row int) []byte {
	object, cells := w.Rows[row].Object, w.Rows[row].Cells
	if len(object) < 3 || cells == nil { // null, or {}
		return append(text, object...)
	}
	text = append(text, object[:len(object)-1]...)
	text = append(text, `,"`+member+`":`...)
	text = append(text, cells...)
	return append(text, '}')
}

// Codec decodes objects as the codec that it has, and compares none: cells such as an age change while the object does not.
type Codec struct{ Of lw.RawCodec }

// Decode implements lw.Codec.
func (c Codec) Decode(s *lw.Scanned) (*lw.Object, error) { return c.Of.Decode(s) }

// DropsManagedFields tells a client that the server need not send metadata.managedFields.
func (c Codec) DropsManagedFields() bool { return c.Of.DropsManagedFields() }
