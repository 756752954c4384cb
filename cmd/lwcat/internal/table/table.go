// Package table requests Tables, which contain the columns that kubectl shows. Package lw does not know Tables, so this
// package converts them to ordinary lists and watches in which each object contains its row's cells.
package table

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/seed-6d2a410a/listwatch/lw"
)

// maxTable is the maximum size in bytes of a Table or of a watch event. Some servers ignore the limit of a list, so a
// Table may contain a whole collection.
const maxTable = 512 << 20

// Transport is an lw.Transport for one collection. If a server does not support Tables, it passes through the
// ordinary objects.
type Transport struct {
	transport lw.Transport
	limit     int          // maxTable, or less in tests
	columns   atomic.Value // a []Column
}

// New returns a transport that requests Tables. Their rows contain whole objects instead of only metadata, because
// metadata does not name the kind of the object.
func New(over lw.Transport) *Transport { return &Transport{transport: over, limit: maxTable} }

// Column is a column of a Table.
type Column struct {
	Name string
	Wide bool // whether kubectl shows the column only with -o wide
}

// Columns returns the columns of the latest Table, or nil before the first one.
func (t *Transport) Columns() []Column {
	columns, _ := t.columns.Load().([]Column)
	return columns
}

// Cells returns the cells of an object as a JSON array, or the zero Value if it has none.
func Cells(o *lw.Object) lw.Value { return o.Get("").Member(member) }

// member is the JSON member that holds an object's table cells. No server uses this name.
const member = "lwcat.cells"

// Codec decodes objects like lw.RawCodec. Objects with the same UID and resourceVersion count as equal, because a cell
// such as the age changes even if the object does not.
type Codec struct{ lw.RawCodec }

// Identity implements lw.Codec.
func (Codec) Identity() lw.Identity[*lw.Object] {
	identity := lw.RawCodec{}.Identity()
	identity.Same = nil
	return identity
}

// Open implements lw.Transport. An empty Table does not show which resource it belongs to, so another collection's
// empty Table could delete all objects. After an empty Table, Open therefore requests the ordinary list, which names
// its kind.
func (t *Transport) Open(ctx context.Context, req *lw.Request) (*lw.Response, error) {
	asked := *req
	plain := cmp.Or(req.Accept, "application/json")
	asked.Accept = "application/json;as=Table;v=v1;g=meta.k8s.io" + strings.TrimPrefix(plain, "application/json") + "," + plain
	if asked.Query != "" {
		asked.Query += "&"
	}
	asked.Query += "includeObject=Object"
	response, err := t.transport.Open(ctx, &asked)
	if err != nil {
		return nil, err
	}
	if req.Watch {
		left := &io.LimitedReader{R: response.ReadCloser}
		response.ReadCloser = &watch{tables: t, in: bufio.NewReaderSize(left, 1<<16), left: left, Closer: response.ReadCloser}
		return response, nil
	}
	in := bufio.NewReaderSize(response.ReadCloser, 1<<16)
	if start, _ := in.Peek(128); !tableStart.Match(start) {
		response.ReadCloser = struct {
			io.Reader
			io.Closer
		}{in, response.ReadCloser}
		return response, nil
	}
	text, err := io.ReadAll(io.LimitReader(in, int64(t.limit)))
	if len(text) == t.limit {
		err = lw.ErrTooLarge
	}
	if err = cmp.Or(err, response.Close()); err != nil {
		return nil, err
	}
	list, err := t.list(text)
	if err != nil {
		return nil, err
	}
	if list == nil {
		return t.transport.Open(ctx, req)
	}
	response.ReadCloser = io.NopCloser(bytes.NewReader(list))
	return response, nil
}

// tableStart matches the start of a Table. API servers write the kind first, within the first 128 bytes.
var tableStart = regexp.MustCompile(`^\s*\{\s*("apiVersion"\s*:\s*"[^"]*"\s*,\s*)?"kind"\s*:\s*"Table"`)

// list converts a Table to a list, or returns nil if the Table has no rows. The kind of the list comes from the first
// row's object. A Table does not name this kind, but lw accepts only lists whose kind fits the resource.
func (t *Transport) list(text []byte) ([]byte, error) {
	table, err := parse(text)
	if err != nil {
		return nil, err
	}
	t.setColumns(table.Member("columnDefinitions"))
	list, end := []byte(`{"metadata":`+cmp.Or(table.Member("metadata").Raw(), "{}")), ""
	for row := range table.Member("rows").Elements() {
		if !row.Member("object").Exists() {
			return nil, errNotTable
		}
		if list = append(list, ','); end == "" {
			list = append(list, `"items":[`...)
			end = fmt.Sprintf("],\"kind\":%q,\"apiVersion\":%q}\n", row.Get("object.kind").String()+"List", row.Get("object.apiVersion").String())
		}
		list = appendObject(list, row, "")
	}
	if end == "" {
		return nil, nil
	}
	return append(list, end...), nil
}

// parse parses a Table or a watch event. Its errors contain no text from the response, because that may be secret.
func parse(text []byte) (lw.Value, error) {
	value, err := lw.ParseValue(text)
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return value, io.ErrUnexpectedEOF
	} else if err != nil {
		return value, errNotTable
	}
	return value, nil
}

var errNotTable = fmt.Errorf("%w: expected a Table", lw.ErrInvalidResponse)

// watch is the body of a watch. It replaces the Tables in its events by their objects.
type watch struct {
	tables *Transport
	in     *bufio.Reader
	left   *io.LimitedReader // the source of in, limited to one event and what in reads ahead
	io.Closer
	part []byte // converted bytes that Read has not returned yet
	err  error  // error that follows part
}

// Read returns converted bytes.
func (w *watch) Read(p []byte) (int, error) {
	for len(w.part) == 0 && w.err == nil {
		w.part, w.err = w.event()
	}
	n := copy(p, w.part)
	if w.part = w.part[n:]; n == 0 {
		return 0, w.err
	}
	return n, nil
}

// event converts a watch event. If the event contains a Table with one row, the row's object and cells replace the
// Table. API servers send each event as one line, which is much cheaper to find than the end of a JSON text.
func (w *watch) event() ([]byte, error) {
	w.left.N = int64(w.tables.limit)
	text, readErr := w.in.ReadBytes('\n')
	if text = bytes.TrimSpace(text); w.left.N <= 0 {
		return nil, lw.ErrTooLarge
	} else if len(text) == 0 {
		return nil, readErr
	}
	event, err := parse(text)
	if err != nil && readErr != nil && readErr != io.EOF {
		err = readErr // which has cut the event short
	}
	if err != nil {
		return nil, err
	}
	table := event.Member("object")
	rows := slices.Collect(table.Member("rows").Elements())
	if table.Member("kind").String() != "Table" || len(rows) != 1 {
		return []byte(event.Raw() + "\n"), nil
	}
	w.tables.setColumns(table.Member("columnDefinitions"))
	return appendObject([]byte(`{"type":`+event.Member("type").Raw()+`,"object":`), rows[0], "}\n"), nil
}

// appendObject appends a row's object, with the cells as its last member, and end.
func appendObject(text []byte, row lw.Value, end string) []byte {
	object, cells := row.Member("object").Raw(), row.Member("cells").Raw()
	if len(object) > 2 && cells != "" { // neither missing nor {}
		object = object[:len(object)-1] + `,"` + member + `":` + cells + "}"
	}
	return append(text, object+end...)
}

// setColumns stores the columns if the definitions contain any.
func (t *Transport) setColumns(definitions lw.Value) {
	var columns []Column
	for column := range definitions.Elements() {
		columns = append(columns, Column{column.Member("name").String(), column.Member("priority").Int() > 0})
	}
	if columns != nil {
		t.columns.Store(columns)
	}
}
