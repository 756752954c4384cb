// Package table requests Tables, which contain the columns that kubectl shows. It converts them to ordinary lists
// and watches in which each object contains its row's cells.
package table

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/seed-6d2a410a/listwatch/lw"
)

// maxFrame is the maximum size of a row or a watch event, in bytes. It is the default of lw.ClientOptions.MaxFrame.
const maxFrame = 64 << 20

// Transport is an lw.Transport for one collection. If a server does not support Tables, it passes through the
// ordinary objects.
type Transport struct {
	transport lw.Transport
	include   string
	frame     int // maximum size of a row or a watch event, in bytes

	mu      sync.Mutex
	columns []string
}

// New returns a transport that requests Tables. Their rows contain whole objects or, if metadataOnly is true, only
// metadata.
func New(over lw.Transport, metadataOnly bool) *Transport {
	include := "Object"
	if metadataOnly {
		include = "Metadata"
	}
	return &Transport{transport: over, include: include, frame: maxFrame}
}

// Columns returns the column names from the latest Table.
func (t *Transport) Columns() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.columns
}

// Cells returns the cells of an object as a JSON array, or the zero Value if it has none.
func Cells(o *lw.Object) lw.Value { return o.Get("").Member(member) }

// member is the JSON member that holds an object's table cells. No server uses this name.
const member = "lwcat.cells"

// Open implements lw.Transport. An empty Table does not show which resource it belongs to, so another collection's
// empty Table could delete all objects. Open then requests the ordinary list, which names its kind.
func (t *Transport) Open(ctx context.Context, req *lw.Request) (*lw.Response, error) {
	asked := *req
	plain := cmp.Or(req.Accept, "application/json")
	drop := strings.TrimPrefix(plain, "application/json")
	asked.Accept = "application/json;as=Table;v=v1;g=meta.k8s.io" + drop + "," + plain
	if asked.Query != "" {
		asked.Query += "&"
	}
	asked.Query += "includeObject=" + t.include
	response, err := t.transport.Open(ctx, &asked)
	if err != nil {
		return nil, err
	}
	source := response.ReadCloser
	c := &converter{tables: t, source: &budget{reader: source, frame: t.frame}}
	c.decoder = json.NewDecoder(c.source)
	out, in := io.Pipe()
	c.out = in
	if req.Watch {
		go func() { in.CloseWithError(c.convertWatch()) }()
		response.ReadCloser = &body{out, source}
		return response, nil
	}
	empty := make(chan bool, 1)
	go func() { in.CloseWithError(c.convertList(empty)) }()
	if <-empty {
		if err := source.Close(); err != nil {
			return nil, err
		}
		return t.transport.Open(ctx, req)
	}
	response.ReadCloser = &body{out, source}
	return response, nil
}

// Codec decodes objects like lw.RawCodec, but ignores their cells in comparisons, because a cell such as the age
// changes even if the object does not.
type Codec struct{ lw.RawCodec }

// Identity implements lw.Codec.
func (Codec) Identity() lw.Identity[*lw.Object] {
	identity := lw.RawCodec{}.Identity()
	identity.Same = nil
	return identity
}

// maxMember limits the size in bytes of each member of a Table except its rows. maxFrame limits each row and each
// watch event.
const maxMember = 1 << 20

// body is the response that a converter writes.
type body struct {
	*io.PipeReader
	source io.ReadCloser
}

// Close closes the source, which ends the converter's goroutine.
func (b *body) Close() error {
	_ = b.PipeReader.Close() // always returns nil
	return b.source.Close()
}

// converter converts Tables to lists or watch events in its own goroutine.
type converter struct {
	tables  *Transport
	source  *budget
	decoder *json.Decoder
	out     io.Writer
}

// kind is the type of an object.
type kind struct {
	Kind       string `json:"kind"`
	APIVersion string `json:"apiVersion"`
}

// startsTable reports whether the response is a Table. It reads only the kind, which servers send first.
func (c *converter) startsTable() bool {
	c.source.remaining = maxMember
	opened, err := c.decoder.Token()
	if opened != json.Delim('{') {
		return false
	}
	for err == nil && c.decoder.More() {
		var name json.Token
		if name, err = c.decoder.Token(); err != nil || name != "kind" && name != "apiVersion" {
			return false
		}
		var text string
		if err = c.decoder.Decode(&text); err == nil && name == "kind" {
			return text == "Table"
		}
	}
	return false
}

// convertList converts a Table to a list of its objects, and copies any other response. Before it writes, it sends
// false to empty. If the Table has no rows, it sends true instead and writes nothing. If it fails early, it only closes
// empty.
func (c *converter) convertList(empty chan<- bool) error {
	defer close(empty)
	c.source.seen = new(bytes.Buffer)
	isTable := c.startsTable()
	seen := c.source.seen
	if c.source.seen = nil; !isTable { // copy any other response, because the caller reports invalid ones
		empty <- false
		_, err := io.Copy(c.out, io.MultiReader(seen, c.source.reader))
		return err
	}
	head, arrays, of := `{`, 0, kind{}
	for c.more(maxMember) {
		name, err := c.token()
		if err != nil {
			return err
		}
		var text json.RawMessage
		switch {
		case name == "rows":
			err = c.convertRows(func(row *row) string {
				if arrays++; arrays > 1 {
					return `,"items":[`
				}
				_ = json.Unmarshal(row.Object, &of) // ignore the error, because lw rejects a list without a kind if the resource is known
				empty <- false
				return head + `"items":[`
			})
		default:
			err = c.decode(&text)
		}
		switch {
		case err != nil:
		case name == "columnDefinitions":
			c.tables.setColumns(text)
		case name == "metadata" && arrays > 0:
			_, err = io.WriteString(c.out, `,"metadata":`+string(text))
		case name == "metadata":
			head = `{"metadata":` + string(text) + `,`
		}
		if err != nil {
			return err
		}
	}
	if _, err := c.token(); err != nil {
		return err
	}
	if arrays == 0 {
		empty <- true
		return nil
	}
	// The list gets its kind from its objects, because lw accepts only lists whose kind fits the resource.
	end, err := json.Marshal(kind{of.Kind + "List", of.APIVersion})
	if err == nil {
		_, err = io.Copy(c.out, io.MultiReader(strings.NewReader(","+string(end[1:])+"\n"), c.decoder.Buffered(), c.source.reader))
	}
	return err
}

// convertRows converts an array of rows to list items. start is called with the first row and returns the text to
// write before it.
func (c *converter) convertRows(start func(*row) string) error {
	opened, err := c.token()
	switch {
	case err != nil || opened == nil:
		return err
	case opened != json.Delim('['):
		return invalid(c.decoder.InputOffset()-1, "rows to be an array")
	}
	first := true
	for ; c.more(c.source.frame); first = false {
		var next row
		if err := c.decode(&next); err != nil {
			return err
		}
		separator := ","
		if first {
			separator = start(&next)
		}
		if _, err := c.out.Write(next.appendObject([]byte(separator))); err != nil {
			return err
		}
	}
	if _, err = c.token(); err == nil && !first {
		_, err = io.WriteString(c.out, "]")
	}
	return err
}

// convertWatch converts watch events. If the object of an event is a Table with one row, it replaces the Table with the
// row's object and cells.
func (c *converter) convertWatch() error {
	for {
		c.source.remaining = c.source.frame
		var text json.RawMessage
		if err := c.decoder.Decode(&text); err != nil {
			return malformed(err)
		}
		var event struct {
			Type   string
			Object struct {
				Kind              string
				ColumnDefinitions json.RawMessage
				Rows              []row
			}
		}
		if json.Unmarshal(text, &event) == nil && event.Object.Kind == "Table" {
			c.tables.setColumns(event.Object.ColumnDefinitions)
			if len(event.Object.Rows) == 1 {
				kind, _ := json.Marshal(event.Type) // encoding a string cannot fail
				text = append(event.Object.Rows[0].appendObject([]byte(`{"type":`+string(kind)+`,"object":`)), '}')
			}
		}
		if _, err := c.out.Write(append(text, '\n')); err != nil {
			return err
		}
	}
}

// more reports whether the current array or object continues. The next value may have at most limit bytes.
func (c *converter) more(limit int) bool {
	c.source.remaining = limit
	return c.decoder.More()
}

// setColumns stores the column names if the definitions contain any.
func (t *Transport) setColumns(definitions []byte) {
	var columns []struct{ Name string }
	if json.Unmarshal(definitions, &columns) != nil || columns == nil {
		return
	}
	names := make([]string, len(columns))
	for i, c := range columns {
		names[i] = c.Name
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.columns = names
}

// row is a row of a Table.
type row struct{ Cells, Object json.RawMessage }

// appendObject appends the row's object with the cells as its last member.
func (r *row) appendObject(text []byte) []byte {
	if len(r.Object) < 3 || r.Cells == nil { // the object is null or {}
		return append(text, r.Object...)
	}
	text = append(text, r.Object[:len(r.Object)-1]...)
	text = append(text, `,"`+member+`":`...)
	text = append(text, r.Cells...)
	return append(text, '}')
}

// token returns the next token. If the input ends here, the document is incomplete, so token returns an error.
func (c *converter) token() (json.Token, error) {
	token, err := c.decoder.Token()
	return token, unexpectedEOF(err)
}

func (c *converter) decode(into any) error { return unexpectedEOF(c.decoder.Decode(into)) }

func unexpectedEOF(err error) error {
	if err == io.EOF || isTruncated(err) {
		return io.ErrUnexpectedEOF
	}
	return malformed(err)
}

// isTruncated reports whether the input ended too early. It also looks for a syntax error, because encoding/json
// returns one since Go 1.27.
func isTruncated(err error) bool {
	syntax, ok := errors.AsType[*json.SyntaxError](err)
	return ok && syntax.Error() == "unexpected end of JSON input"
}

// invalid returns an error that lw handles like a malformed list.
func invalid(offset int64, expected string) error {
	return fmt.Errorf("%w: expected %s at byte %d", lw.ErrInvalidResponse, expected, offset)
}

// malformed replaces a decoder's error, because that error may contain values from the object.
func malformed(err error) error {
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		return invalid(syntax.Offset, "JSON")
	}
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return invalid(wrong.Offset, "a Table")
	}
	return err
}

// budget is an io.Reader that limits the number of bytes read.
type budget struct {
	reader    io.Reader
	frame     int // maximum size of a row or a watch event, in bytes
	remaining int
	seen      *bytes.Buffer // copy of all bytes read; may be nil
}

func (b *budget) Read(p []byte) (int, error) {
	if b.remaining <= 0 {
		return 0, lw.ErrTooLarge
	}
	n, err := b.reader.Read(p[:min(len(p), b.remaining)])
	b.remaining -= n
	if b.seen != nil {
		b.seen.Write(p[:n])
	}
	return n, err
}
