//go:build !js

package lw

import (
	"io"

	"github.com/seed-6d2a410a/listwatch/internal/redact"
	"github.com/seed-6d2a410a/listwatch/lw/internal/protoscan"
)

// openError decodes the protobuf Status of an error response.
func (Protobuf) openError(err error) error {
	e, ok := err.(*StatusError)
	if !ok || e.encoded == nil {
		return err
	}
	kind, message, ok := envelope(e.encoded)
	if !ok || kind != "Status" {
		return err
	}
	status, statusErr := protoStatus(message, e.source)
	if statusErr != nil {
		return err
	}
	status.Code = e.Code // the status code of the response
	decoded := &StatusError{Status: status, RetryAfter: e.RetryAfter}
	if decoded.RetryAfter == 0 {
		decoded.RetryAfter = status.Details.retryAfter()
	}
	return decoded
}

// protoStatus decodes a Status message. It redacts all strings, because the server may repeat the credential of the
// request.
func protoStatus(message []byte, body io.Reader) (status Status, err error) {
	m := protoscan.Of(message)
	for f, ok := m.Next(); ok; f, ok = m.Next() {
		text := func() string { return redact.Body(body, string(m.Bytes(f))) }
		switch {
		case f.Number == 6 && f.Type != protoscan.Bytes:
			status.Code = int(int32(f.Int))
		case f.Type != protoscan.Bytes:
		case f.Number == 1:
			status.Continue = redact.Body(body, string(lastField(m.Bytes(f), 3)))
		case f.Number == 2:
			status.Status = text()
		case f.Number == 3:
			status.Message = text()
		case f.Number == 4:
			status.Reason = text()
		case f.Number == 5:
			status.Details = protoDetails(m.Bytes(f), body)
		}
	}
	if !m.Valid() {
		err = &MalformedError{Expected: "a Status", Found: "malformed protobuf"}
	}
	return status, err
}

func protoDetails(message []byte, body io.Reader) (details StatusDetails) {
	m := protoscan.Of(message)
	for f, ok := m.Next(); ok; f, ok = m.Next() {
		text := func() string { return redact.Body(body, string(m.Bytes(f))) }
		switch {
		case f.Number == 5 && f.Type != protoscan.Bytes:
			details.RetryAfterSeconds = int(int32(f.Int))
		case f.Type != protoscan.Bytes:
		case f.Number == 1:
			details.Name = text()
		case f.Number == 2:
			details.Group = text()
		case f.Number == 3:
			details.Kind = text()
		case f.Number == 4:
			field := func(number int) string { return redact.Body(body, string(lastField(m.Bytes(f), number))) }
			details.Causes = append(details.Causes, StatusCause{Reason: field(1), Message: field(2), Field: field(3)})
		}
	}
	return details
}
