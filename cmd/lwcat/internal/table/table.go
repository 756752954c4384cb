// Package table requests Tables, which contain the columns that kubectl shows. Package lw does not know Tables, so this
// package converts them to ordinary lists and watches in which each object contains its row's cells.
package table

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/seed-6d2a410a/listwatch/lw"
)

// maxFrame is the maximum size of a row or a watch event, in bytes. It is the default of lw.ClientOptions.MaxFrame.
const maxFrame = 64 << 20

// maxMember is the maximum size in bytes of each member of a Table except its rows, so that an endless member cannot
// exhaust the memory.
const maxMember = 1 << 20

// Transport is an lw.Transport for one collection. If a server does not support Tables, it passes through the
// ordinary objects.
type Transport struct {
	transport lw.Transport
	frame     int // maxFrame, or less in tests
	columns   atomic.Pointer[[]string]
}

// New returns a transport that requests Tables. Their rows contain whole objects instead of only metadata, because
// metadata does not name the kind of the object.
func New(over lw.Transport) *Transport { return &Transport{transport: over, frame: maxFrame} }

// Columns returns the column names from the latest Table.
func (t *Transport) Columns() []string {
	if names := t.columns.Load(); names != nil {
		return *names
	}
	return nil
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
	in := &budget{Reader: bufio.NewReader(response.ReadCloser), Closer: response.ReadCloser}
	c := &converter{tables: t, budget: in, decoder: json.NewDecoder(in)}
	if req.Watch {
		c.next = c.event
		response.ReadCloser = c
		return response, nil
	}
	if start, _ := in.Peek(maxStart); !tableStart.Match(start) {
		response.ReadCloser = unchanged{in.Reader, in.Closer}
		return response, nil
	}
	c.next, c.end = c.start, "]}"
	if c.fill(); c.err == errNoRows {
		if err := c.Close(); err != nil {
			return nil, err
		}
		return t.transport.Open(ctx, req)
	}
	response.ReadCloser = c
	return response, nil
}

// unchanged is the body of a response that is not a Table.
type unchanged struct {
	io.Reader
	io.Closer
}

var (
	// tableStart matches the start of a Table. API servers write the kind first.
	tableStart = regexp.MustCompile(`^\s*\{\s*("apiVersion"\s*:\s*"[^"]*"\s*,\s*)?"kind"\s*:\s*"Table"`)
	errNoRows  = errors.New("the Table has no rows")
)

// maxStart is the number of bytes in which tableStart must match.
const maxStart = 128

// converter is the body of a response. It converts Tables to lists or watch events.
type converter struct {
	tables *Transport
	*budget
	decoder *json.Decoder
	next    func() ([]byte, error) // converts the next part: start, row or event
	part    []byte                 // converted bytes that Read has not returned yet
	err     error                  // error that follows part
	end     string                 // the end of the list, which is still to be returned; "" in a watch
}

// Read returns converted bytes.
func (c *converter) Read(p []byte) (int, error) {
	c.fill()
	n := copy(p, c.part)
	if c.part = c.part[n:]; n == 0 {
		return 0, c.err
	}
	return n, nil
}

// fill converts the next part if none is left.
func (c *converter) fill() {
	for len(c.part) == 0 && c.err == nil {
		part, err := c.next()
		c.part, c.err = part, c.failure(err)
	}
}

// event converts a watch event. If the event contains a Table with one row, the row's object and cells replace the
// Table.
func (c *converter) event() ([]byte, error) {
	event, err := c.value(c.tables.frame)
	if err != nil {
		return nil, err
	}
	table := event.Member("object")
	rows := slices.Collect(table.Member("rows").Elements())
	if table.Member("kind").String() != "Table" || len(rows) != 1 {
		return []byte(event.Raw() + "\n"), nil
	}
	c.tables.setColumns(table.Member("columnDefinitions"))
	return appendObject([]byte(`{"type":`+event.Member("type").Raw()+`,"object":`), rows[0], "}\n"), nil
}

// start reads a Table up to its rows, which API servers write last. It returns the start of the list with the first
// row.
func (c *converter) start() ([]byte, error) {
	c.remaining = maxMember
	head := []byte("{")
	if _, err := c.decoder.Token(); err != nil {
		return nil, err
	}
	for c.decoder.More() {
		name, _ := c.decoder.Token()
		if name == "rows" {
			return c.firstRow(head)
		}
		value, err := c.value(maxMember)
		switch {
		case err != nil:
			return nil, err
		case name == "columnDefinitions":
			c.tables.setColumns(value)
		case name == "metadata":
			head = append(head, `"metadata":`+value.Raw()+`,`...)
		}
	}
	_, err := c.decoder.Token()
	return nil, cmp.Or(err, errNoRows)
}

// firstRow converts the first row, and derives the kind of the list from its object. A Table does not name this kind,
// but lw accepts only lists whose kind fits the resource.
func (c *converter) firstRow(head []byte) ([]byte, error) {
	open, err := c.decoder.Token()
	if err == nil && (open != json.Delim('[') || !c.decoder.More()) {
		_, err = c.decoder.Token()
		err = cmp.Or(err, errNoRows)
	}
	if err != nil {
		return nil, err
	}
	row, err := c.value(c.tables.frame)
	c.end = fmt.Sprintf("],\"kind\":%q,\"apiVersion\":%q}\n", row.Get("object.kind").String()+"List", row.Get("object.apiVersion").String())
	c.next = c.row
	return appendObject(append(head, `"items":[`...), row, ""), err
}

// row converts the next row, or the end of the Table.
func (c *converter) row() ([]byte, error) {
	if c.remaining = c.tables.frame; c.decoder.More() {
		row, err := c.value(c.tables.frame)
		return appendObject([]byte(","), row, ""), err
	}
	_, err := c.decoder.Token() // closes the rows
	if err == nil {
		_, err = c.decoder.Token() // closes the Table
	}
	end := c.end
	if err == nil {
		c.end, err = "", io.EOF
	}
	return []byte(end), err
}

// value reads a JSON value of at most limit bytes.
func (c *converter) value(limit int) (lw.Value, error) {
	c.remaining = limit
	var text json.RawMessage
	if err := c.decoder.Decode(&text); err != nil {
		return lw.Value{}, err
	}
	return lw.ParseValue(text)
}

// failure replaces a decoder's error, because the error message may contain values from the object.
func (c *converter) failure(err error) error {
	switch {
	case err == nil || err == errNoRows:
		return err
	case err == io.EOF && c.end == "": // a watch may end after each event
		return io.EOF
	case c.failed == io.EOF:
		return io.ErrUnexpectedEOF
	}
	return cmp.Or(c.failed, fmt.Errorf("%w: expected a Table", lw.ErrInvalidResponse))
}

// budget limits the number of bytes read, and remembers the error that ended the input.
type budget struct {
	*bufio.Reader
	io.Closer
	remaining int   // bytes that may still be read before ErrTooLarge; value resets it
	failed    error // error of the last Read
}

func (b *budget) Read(p []byte) (n int, err error) {
	if b.remaining <= 0 {
		b.failed = lw.ErrTooLarge
		return 0, b.failed
	}
	n, b.failed = b.Reader.Read(p[:min(len(p), b.remaining)])
	b.remaining -= n
	return n, b.failed
}

// appendObject appends a row's object, with the cells as its last member, and end.
func appendObject(text []byte, row lw.Value, end string) []byte {
	object, cells := row.Member("object").Raw(), row.Member("cells").Raw()
	if len(object) > 2 && cells != "" { // neither missing nor {}
		object = object[:len(object)-1] + `,"` + member + `":` + cells + "}"
	}
	return append(text, object+end...)
}

// setColumns stores the column names if the definitions contain any.
func (t *Transport) setColumns(definitions lw.Value) {
	var names []string
	for column := range definitions.Elements() {
		names = append(names, column.Member("name").String())
	}
	if names != nil {
		t.columns.Store(&names)
	}
}
