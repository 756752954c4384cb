//go:build !js

package lw

import (
	"io"

	"github.com/seed-6d2a410a/listwatch/internal/redact"
	"github.com/seed-6d2a410a/listwatch/lw/internal/protoscan"
)

// openError returns err with its protobuf Status decoded. It returns other errors unchanged.
func (Protobuf) openError(err error) error {
	e, ok := err.(*StatusError)
	if !ok || e.encoded == nil {
		return err
	}
	kind, message, ok := envelope(e.encoded)
	if !ok || kind != "Status" {
		return err
	}
	decoded := &StatusError{}
	if !decoded.unmarshal(message, e.source) {
		return err
	}
	decoded.Code = e.Code // the HTTP status code takes precedence
	if e.RetryAfter > 0 {
		decoded.RetryAfter = e.RetryAfter
	}
	return decoded
}

// unmarshal sets the fields of e from a protobuf Status. It returns false if the message is invalid. It redacts all
// strings, because the server may repeat the credential of the request.
func (e *StatusError) unmarshal(message []byte, body io.Reader) bool {
	m := protoscan.Of(message)
	for f, ok := m.Next(); ok; f, ok = m.Next() {
		switch {
		case f.Number == 6 && f.Type != protoscan.Bytes:
			e.Code = int(int32(f.Int))
		case f.Type != protoscan.Bytes:
		case f.Number == 3:
			e.Message = redact.Body(body, string(m.Bytes(f)))
		case f.Number == 4:
			e.Reason = redact.Body(body, string(m.Bytes(f)))
		case f.Number == 5:
			e.unmarshalDetails(m.Bytes(f), body)
		}
	}
	return m.Valid()
}

func (e *StatusError) unmarshalDetails(message []byte, body io.Reader) {
	m := protoscan.Of(message)
	for f, ok := m.Next(); ok; f, ok = m.Next() {
		text := func() string { return redact.Body(body, string(m.Bytes(f))) }
		switch {
		case f.Number == 5 && f.Type != protoscan.Bytes:
			e.RetryAfter = seconds(int(int32(f.Int)))
		case f.Type != protoscan.Bytes:
		case f.Number == 1:
			e.Name = text()
		case f.Number == 2:
			e.Group = text()
		case f.Number == 3:
			e.Kind = text()
		case f.Number == 4:
			field := func(number int) string { return redact.Body(body, string(lastField(m.Bytes(f), number))) }
			e.Causes = append(e.Causes, StatusCause{Reason: field(1), Message: field(2), Field: field(3)})
		}
	}
}
