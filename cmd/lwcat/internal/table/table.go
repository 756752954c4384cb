// Package table requests Tables, which contain the columns that kubectl shows. Package lw does not know Tables, so this
// package converts them to ordinary lists and watches in which each object contains its row's cells.
package table

import (
	"bufio"
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
	c := &converter{tables: t, Reader: bufio.NewReaderSize(response.ReadCloser, 1<<16), Closer: response.ReadCloser}
	if req.Watch {
		c.next = c.event
		response.ReadCloser = c
		return response, nil
	}
	if start, _ := c.Peek(maxStart); !tableStart.Match(start) {
		response.ReadCloser = unchanged{c.Reader, c.Closer}
		return response, nil
	}
	c.next, c.end = c.start, "]}"
	if c.fill(); c.failed == errNoRows {
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
	// errNotTable contains no text from the response, because that may be secret.
	errNotTable = fmt.Errorf("%w: expected a Table", lw.ErrInvalidResponse)
)

// maxStart is the number of bytes in which tableStart must match.
const maxStart = 128

// converter is the body of a response. It converts Tables to lists or watch events.
type converter struct {
	tables *Transport
	*bufio.Reader
	io.Closer
	next   func() []byte // converts the next part: start, row or event
	part   []byte        // converted bytes that Read has not returned yet
	failed error         // the first error, which follows part
	end    string        // the end of the list, which is still to be returned; "" in a watch
}

// Read returns converted bytes.
func (c *converter) Read(p []byte) (int, error) {
	c.fill()
	n := copy(p, c.part)
	if c.part = c.part[n:]; n > 0 {
		return n, nil
	}
	if c.failed == io.EOF && c.end != "" {
		return 0, io.ErrUnexpectedEOF
	}
	return 0, c.failed
}

// fill converts the next part if none is left.
func (c *converter) fill() {
	for len(c.part) == 0 && c.failed == nil {
		c.part = c.next()
	}
}

// event converts a watch event. If the event contains a Table with one row, the row's object and cells replace the
// Table.
func (c *converter) event() []byte {
	event := c.value(c.tables.frame)
	table := event.Member("object")
	rows := slices.Collect(table.Member("rows").Elements())
	switch {
	case c.failed != nil:
		return nil
	case len(rows) != 1 || table.Member("kind").String() != "Table":
		return []byte(event.Raw() + "\n")
	}
	c.tables.setColumns(table.Member("columnDefinitions"))
	return appendObject([]byte(`{"type":`+event.Member("type").Raw()+`,"object":`), rows[0], "}\n")
}

// start reads a Table up to its rows, which API servers write last. It returns the start of the list with the first
// row.
func (c *converter) start() []byte {
	head := []byte("{")
	c.take('{')
	for more := c.more('}', true); more; more = c.more('}', false) {
		name := c.value(maxMember)
		c.take(':')
		switch name.String() {
		case "rows":
			return c.firstRow(head)
		case "columnDefinitions":
			c.tables.setColumns(c.value(maxMember))
		case "metadata":
			head = append(head, `"metadata":`+c.value(maxMember).Raw()+`,`...)
		default:
			c.value(maxMember)
		}
	}
	c.fail(errNoRows)
	return nil
}

// firstRow converts the first row, and derives the kind of the list from its object. A Table does not name this kind,
// but lw accepts only lists whose kind fits the resource.
func (c *converter) firstRow(head []byte) []byte {
	if c.peek() != '[' {
		c.fail(errNoRows)
	}
	c.take('[')
	if !c.more(']', true) {
		c.fail(errNoRows)
		return nil
	}
	row := c.value(c.tables.frame)
	c.end = fmt.Sprintf("],\"kind\":%q,\"apiVersion\":%q}\n", row.Get("object.kind").String()+"List", row.Get("object.apiVersion").String())
	c.next = c.row
	return appendObject(append(head, `"items":[`...), row, "")
}

// row converts the next row, or the end of the Table.
func (c *converter) row() []byte {
	if c.more(']', false) {
		return appendObject([]byte(","), c.value(c.tables.frame), "")
	}
	if c.take('}'); c.failed != nil {
		return nil
	}
	end := c.end
	c.end, c.failed = "", io.EOF
	return []byte(end)
}

// fail records an error unless an earlier one is recorded.
func (c *converter) fail(err error) { c.failed = cmp.Or(c.failed, err) }

// peek returns the next byte that is not white space. After an error, it returns 0.
func (c *converter) peek() byte {
	for range maxMember {
		switch next, err := c.Reader.ReadByte(); {
		case err != nil:
			c.fail(err)
			return 0
		case !isSpace(next):
			_ = c.UnreadByte() // cannot fail after a successful ReadByte
			return next
		}
	}
	c.fail(lw.ErrTooLarge)
	return 0
}

func isSpace(b byte) bool { return b == ' ' || b == '\n' || b == '\t' || b == '\r' }

// take skips the given byte.
func (c *converter) take(expected byte) {
	if c.peek() != expected {
		c.fail(errNotTable)
	}
	_, _ = c.Discard(1)
}

// more skips a comma or the end of an array or object. It reports whether another element or member follows. first is
// true before the first one, which has no comma.
func (c *converter) more(end byte, first bool) bool {
	if c.peek() == end {
		c.take(end)
		return false
	}
	if !first {
		c.take(',')
	}
	return c.failed == nil
}

// value reads a JSON value of at most limit bytes. It finds the end of the value with one simple loop, because
// encoding/json needs two slow passes for that. ParseValue then validates the value.
func (c *converter) value(limit int) (value lw.Value) {
	if !strings.ContainsRune(`{["-0123456789tfn`, rune(c.peek())) {
		c.fail(errNotTable)
	}
	var text []byte
	for end := (valueEnd{}); !end.found && c.failed == nil; {
		chunk, err := c.Peek(max(1, c.Buffered()))
		n := end.find(chunk)
		text = append(text, chunk[:n]...)
		_, _ = c.Discard(n)
		switch {
		case err == io.EOF:
			c.fail(io.ErrUnexpectedEOF)
		case err != nil:
			c.fail(err)
		case len(text) > limit:
			c.fail(lw.ErrTooLarge)
		}
	}
	if c.failed == nil {
		var err error
		if value, err = lw.ParseValue(text); err != nil {
			c.fail(errNotTable)
		}
	}
	return value
}

// valueEnd finds the end of a JSON value whose text arrives in chunks.
type valueEnd struct {
	depth   int  // number of open brackets and braces
	quoted  bool // in a string
	escaped bool // after a backslash
	begun   bool // after the first byte
	found   bool
}

// find returns the number of bytes of the chunk that belong to the value.
func (e *valueEnd) find(chunk []byte) int {
	for i, b := range chunk {
		switch {
		case e.escaped:
			e.escaped = false
		case e.quoted:
			e.escaped, e.quoted = b == '\\', b != '"'
			e.found = !e.quoted && e.depth == 0
		case b == '"':
			e.quoted = true
		case b == '{' || b == '[':
			e.depth++
		case (b == '}' || b == ']') && e.depth > 0:
			e.depth--
			e.found = e.depth == 0
		case e.depth == 0 && e.begun && (isSpace(b) || strings.IndexByte(",:]}", b) >= 0): // after a number, true, false or null
			e.found = true
			return i
		}
		if e.begun = true; e.found {
			return i + 1
		}
	}
	return len(chunk)
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
