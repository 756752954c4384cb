package table

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"

	"github.com/seed-6d2a410a/listwatch/lw"
)

// maxMember bounds all of a Table but its rows, in bytes. One row at a time is held, or one frame of a watch, and each is
// bounded as those of lists and watches are.
const maxMember = 1 << 20

// body reads Tables and is read as lists, or as a watch.
type body struct {
	io.ReadCloser
	tables  *Transport
	source  *budget
	decoder *json.Decoder
	next    func() ([]byte, error) // the next part of what is read
	rest    []byte                 // of one
	rows    bool                   // one was there
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

// Redact is for lw.Redact.
func (b *body) Redact(text string) string { return lw.Redact(b.ReadCloser, text) }

// readHead begins a list if what comes is a Table, of which servers tell the kind first; all else passes as it is.
func (b *body) readHead() ([]byte, error) {
	b.source.seen = new(bytes.Buffer)
	b.source.remaining = maxMember
	opened, err := b.decoder.Token()
	kind := ""
	for err == nil && opened == json.Delim('{') && kind == "" && b.decoder.More() {
		var name json.Token
		if name, err = b.decoder.Token(); err == nil && (name == "kind" || name == "apiVersion") {
			var text string
			if err = b.decoder.Decode(&text); name == "kind" {
				kind = text
			}
		} else {
			break
		}
	}
	if kind != "Table" { // whoever reads on says what is wrong
		all := io.MultiReader(b.source.seen, b.ReadCloser)
		b.next = func() ([]byte, error) { return readPrefix(all) }
		return nil, nil
	}
	b.source.seen = nil
	b.next = b.readMember
	return []byte(`{"kind":"List","apiVersion":"v1"`), nil
}

func readPrefix(of io.Reader) ([]byte, error) {
	text := make([]byte, 4<<10)
	n, err := of.Read(text)
	if n > 0 {
		err = nil // which comes again
	}
	return text[:n], err
}

// readMember makes what a list has of the Table's next member.
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
	switch name {
	case "metadata":
		return append([]byte(`,"metadata":`), text...), nil
	case "columnDefinitions":
		b.tables.setColumns(text)
	}
	return nil, nil
}

// openRows begins the rows.
func (b *body) openRows() ([]byte, error) {
	switch opened, err := b.token(); {
	case err != nil:
		return nil, err
	case opened == json.Delim('['):
		b.next = b.readRow
		return []byte(`,"items":[`), nil
	case opened == nil:
		return []byte(`,"items":null`), nil
	}
	return nil, &lw.MalformedError{Offset: b.decoder.InputOffset() - 1, Expected: "rows to be an array", Found: "something else"}
}

// readRow makes an item of the next row.
func (b *body) readRow() ([]byte, error) {
	b.source.remaining = b.source.frame
	if !b.decoder.More() {
		b.next = b.readMember
		_, err := b.token()
		return []byte("]"), err
	}
	var next row
	if err := b.decode(&next); err != nil {
		return nil, err
	}
	var text []byte
	if b.rows {
		text = []byte(",")
	}
	b.rows = true
	return next.appendObject(text), nil
}

// readEnd closes the list. What is behind it is for whoever reads on.
func (b *body) readEnd() ([]byte, error) {
	_, err := b.token()
	rest := io.MultiReader(b.decoder.Buffered(), b.ReadCloser)
	b.next = func() ([]byte, error) { return readPrefix(rest) }
	return []byte("}\n"), err
}

// readFrame makes an event about an object of one about a Table.
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
	kind, _ := json.Marshal(event.Type) // a string has no way to fail
	frame := append([]byte(`{"type":`), kind...)
	frame = append(frame, `,"object":`...)
	return append(event.Object.Rows[0].appendObject(frame), "}\n"...), nil
}

// setColumns takes the names of columns, if there are any.
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

// row is one of a Table.
type row struct{ Cells, Object json.RawMessage }

// appendObject appends a row's object, with the cells as its last member.
func (r *row) appendObject(text []byte) []byte {
	if len(r.Object) < 3 || r.Cells == nil { // null, or {}
		return append(text, r.Object...)
	}
	text = append(text, r.Object[:len(r.Object)-1]...)
	text = append(text, `,"`+member+`":`...)
	text = append(text, r.Cells...)
	return append(text, '}')
}

// token and decode read what is within a document, whose end is none in good order there.
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

// isTruncated tells whether it is the end that is wrong, which since Go 1.27 is a mistake of syntax like others.
func isTruncated(err error) bool {
	syntax, ok := errors.AsType[*json.SyntaxError](err)
	return ok && syntax.Error() == "unexpected end of JSON input"
}

// malformed is the error that a list or a watch of ordinary objects would end with. The decoder's own may hold values.
func malformed(err error) error {
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		return &lw.MalformedError{Offset: syntax.Offset, Expected: "JSON", Found: "something else"}
	}
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return &lw.MalformedError{Offset: wrong.Offset, Expected: "a Table", Found: "something else"}
	}
	return err
}

// budget fails when more is read than may be.
type budget struct {
	reader    io.Reader
	frame     int // the most bytes of a row or a frame
	remaining int
	seen      *bytes.Buffer // what was read, unless nil
}

func (b *budget) Read(p []byte) (int, error) {
	if b.remaining <= 0 {
		return 0, &lw.FrameTooLargeError{Limit: b.frame}
	}
	n, err := b.reader.Read(p[:min(len(p), b.remaining)])
	if b.remaining -= n; b.seen != nil {
		b.seen.Write(p[:n])
	}
	return n, err
}
