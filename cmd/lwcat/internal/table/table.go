// Package table requests Tables, which contain the columns that kubectl shows. It converts them to ordinary lists and
// watches whose objects contain the cells of their rows.
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

	"github.com/seed-6d2a410a/listwatch/internal/redact"
	"github.com/seed-6d2a410a/listwatch/lw"
)

// maxFrame is the maximum size of a row or a watch event, in bytes. It is the default of lw.ClientOptions.MaxFrame.
const maxFrame = 64 << 20

// Transport is an lw.Transport for one collection. It passes through ordinary objects from servers without Table
// support.
type Transport struct {
	transport lw.Transport
	include   string
	frame     int // maximum size of a row or a watch event, in bytes

	mu      sync.Mutex
	columns []string
}

// New returns a transport that requests Tables. Their rows contain whole objects, or only the metadata of the objects
// if metadataOnly is true.
func New(over lw.Transport, metadataOnly bool) *Transport {
	include := "Object"
	if metadataOnly {
		include = "Metadata"
	}
	return &Transport{transport: over, include: include, frame: maxFrame}
}

// Columns returns the column names of the latest Table.
func (t *Transport) Columns() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.columns
}

// Cells returns the cells of an object as a JSON array, or the zero Value if it has none.
func Cells(o *lw.Object) lw.Value { return o.Get("").Member(member) }

// member is the JSON member that holds an object's table cells. No server uses this name.
const member = "lwcat.cells"

// Open implements lw.Transport. An empty Table does not show to which resource it belongs. Open then requests the
// ordinary list, which names its kind, so that an empty Table of another collection cannot delete objects.
func (t *Transport) Open(ctx context.Context, req *lw.Request) (io.ReadCloser, error) {
	asked := *req
	plain := cmp.Or(req.Accept, "application/json")
	drop := strings.TrimPrefix(plain, "application/json")
	asked.Accept = "application/json;as=Table;v=v1;g=meta.k8s.io" + drop + "," + plain
	if asked.Query != "" {
		asked.Query += "&"
	}
	asked.Query += "includeObject=" + t.include
	source, err := t.transport.Open(ctx, &asked)
	if err != nil {
		return nil, err
	}
	b := &body{ReadCloser: source, tables: t, source: &budget{reader: source, frame: t.frame}}
	b.decoder = json.NewDecoder(b.source)
	if b.next = b.readHead; req.Watch {
		b.next = b.readFrame
	} else if b.readUntilRow() {
		if err := source.Close(); err != nil {
			return nil, err
		}
		return t.transport.Open(ctx, req)
	}
	return b, nil
}

// Codec decodes objects like lw.RawCodec, but ignores their cells in comparisons. A cell such as the age changes even if
// the object does not.
type Codec struct{ lw.RawCodec }

// Same implements lw.Codec.
func (Codec) Same(*lw.Object, *lw.Scanned) bool { return true }

// maxMember limits each member of a Table other than its rows, in bytes. maxFrame limits each row and each watch event.
const maxMember = 1 << 20

// body converts Tables to lists or watch events.
type body struct {
	io.ReadCloser
	tables  *Transport
	source  *budget
	decoder *json.Decoder
	next    func() ([]byte, error) // returns the next part of the converted body
	rest    []byte                 // unread bytes of the current part

	metadata []byte // metadata of the list, until the first row
	kind     kind   // kind of the first row's object
	rows     bool   // whether the list contains at least one row
	items    bool   // whether the array of the items is open
	empty    bool   // whether the response is a Table without rows
}

// kind is the type of an object.
type kind struct {
	Kind       string `json:"kind"`
	APIVersion string `json:"apiVersion"`
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

// readUntilRow reads the response until the first row of a Table. It returns true if the Table has no rows. Read returns
// any error.
func (b *body) readUntilRow() (empty bool) {
	for !b.empty && len(b.rest) == 0 {
		var err error
		if b.rest, err = b.next(); err != nil {
			b.next = func() ([]byte, error) { return nil, err }
			return false
		}
	}
	return b.empty
}

// Redact removes the credential of the request from text. See package redact.
func (b *body) Redact(text string) string { return redact.Body(b.ReadCloser, text) }

// readHead reads the kind of the response, which servers send first. It passes responses
// through unchanged unless they are Tables.
func (b *body) readHead() ([]byte, error) {
	b.source.seen = new(bytes.Buffer)
	b.source.remaining = maxMember
	opened, err := b.decoder.Token()
	kind := ""
	for err == nil && opened == json.Delim('{') && kind == "" && b.decoder.More() {
		var name json.Token
		if name, err = b.decoder.Token(); err == nil && (name == "kind" || name == "apiVersion") {
			var text string
			err = b.decoder.Decode(&text)
			if name == "kind" {
				kind = text
			}
		} else {
			break
		}
	}
	if kind != "Table" { // the caller reports invalid responses
		all := io.MultiReader(b.source.seen, b.ReadCloser)
		b.next = func() ([]byte, error) { return readPrefix(all) }
		return nil, nil
	}
	b.source.seen = nil
	b.next = b.readMember
	return nil, nil
}

func readPrefix(of io.Reader) ([]byte, error) {
	text := make([]byte, 4<<10)
	n, err := of.Read(text)
	if n > 0 {
		err = nil // the next read returns the error again
	}
	return text[:n], err
}

// readMember reads the next member of the Table and returns the corresponding member of the list, if there is one.
func (b *body) readMember() ([]byte, error) {
	b.source.remaining = maxMember
	if !b.decoder.More() {
		return b.readEnd()
	}
	name, err := b.token()
	if err != nil {
		return nil, err
	}
	if name == "rows" {
		return b.openRows()
	}
	var text json.RawMessage
	if err := b.decode(&text); err != nil {
		return nil, err
	}
	switch {
	case name == "columnDefinitions":
		b.tables.setColumns(text)
	case name == "metadata" && b.rows:
		return append([]byte(`,"metadata":`), text...), nil
	case name == "metadata":
		b.metadata = text
	}
	return nil, nil
}

// openRows reads the start of the rows.
func (b *body) openRows() ([]byte, error) {
	switch opened, err := b.token(); {
	case err != nil:
		return nil, err
	case opened == json.Delim('['):
		b.next = b.readRow
		return nil, nil
	case opened == nil:
		return nil, nil
	}
	return nil, invalid(b.decoder.InputOffset()-1, "rows to be an array")
}

// readRow reads the next row and returns it as an item of the list.
func (b *body) readRow() ([]byte, error) {
	b.source.remaining = b.source.frame
	if !b.decoder.More() {
		b.next = b.readMember
		_, err := b.token()
		if !b.items {
			return nil, err
		}
		b.items = false
		return []byte("]"), err
	}
	var next row
	if err := b.decode(&next); err != nil {
		return nil, err
	}
	return next.appendObject(b.appendSeparator(&next)), nil
}

// appendSeparator returns the text before an item. The text before the first item starts the list.
func (b *body) appendSeparator(next *row) (text []byte) {
	switch {
	case b.items:
		return []byte(",")
	case b.rows:
		text = []byte(`,"items":[`)
	case b.metadata != nil:
		text = append(append([]byte(`{"metadata":`), b.metadata...), `,"items":[`...)
	default:
		text = []byte(`{"items":[`)
	}
	if !b.rows {
		_ = json.Unmarshal(next.Object, &b.kind) // without a kind, the engine rejects the list of a known resource
	}
	b.rows, b.items, b.metadata = true, true, nil
	return text
}

// readEnd closes the list and passes any later bytes through. The list has the kind of its objects, because the engine
// accepts only lists of the resource.
func (b *body) readEnd() ([]byte, error) {
	if _, err := b.token(); err != nil {
		return nil, err
	}
	if !b.rows {
		b.empty = true
		return nil, nil
	}
	list, err := json.Marshal(kind{b.kind.Kind + "List", b.kind.APIVersion})
	rest := io.MultiReader(b.decoder.Buffered(), b.ReadCloser)
	b.next = func() ([]byte, error) { return readPrefix(rest) }
	return append(append([]byte(","), list[1:]...), '\n'), err
}

// readFrame reads and returns the next watch event. If its object is a Table with one row, readFrame replaces the Table
// with the row's object and cells.
func (b *body) readFrame() ([]byte, error) {
	b.source.remaining = b.source.frame
	var text json.RawMessage
	if err := b.decoder.Decode(&text); err != nil {
		return nil, malformed(err)
	}
	var event struct {
		Type   string
		Object struct {
			Kind              string
			ColumnDefinitions json.RawMessage
			Rows              []row
		}
	}
	if json.Unmarshal(text, &event) != nil || event.Object.Kind != "Table" {
		return append(text, '\n'), nil
	}
	b.tables.setColumns(event.Object.ColumnDefinitions)
	if len(event.Object.Rows) != 1 {
		return append(text, '\n'), nil
	}
	kind, _ := json.Marshal(event.Type) // encoding a string cannot fail
	frame := append([]byte(`{"type":`), kind...)
	frame = append(frame, `,"object":`...)
	return append(event.Object.Rows[0].appendObject(frame), "}\n"...), nil
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

// token returns the next token. The end of the input is an error, because the document is not complete.
func (b *body) token() (json.Token, error) {
	token, err := b.decoder.Token()
	return token, unexpectedEOF(err)
}

func (b *body) decode(into any) error { return unexpectedEOF(b.decoder.Decode(into)) }

func unexpectedEOF(err error) error {
	if err == io.EOF || isTruncated(err) {
		return io.ErrUnexpectedEOF
	}
	return malformed(err)
}

// isTruncated reports whether the input ended too early. Since Go 1.27, encoding/json reports that as a syntax error.
func isTruncated(err error) bool {
	syntax, ok := errors.AsType[*json.SyntaxError](err)
	return ok && syntax.Error() == "unexpected end of JSON input"
}

// invalid returns an error that the engine handles like a *lw.MalformedError.
func invalid(offset int64, expected string) error {
	return fmt.Errorf("%w: expected %s at byte %d", lw.ErrInvalidResponse, expected, offset)
}

// malformed replaces an error of the decoder, which may contain values of the object.
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
		return 0, &lw.FrameTooLargeError{Limit: b.frame}
	}
	n, err := b.reader.Read(p[:min(len(p), b.remaining)])
	b.remaining -= n
	if b.seen != nil {
		b.seen.Write(p[:n])
	}
	return n, err
}
