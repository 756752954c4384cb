package lwtest

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strconv"
	"strings"
)

// gzipFrom is the size from which lists are compressed.
const gzipFrom = 131_072

// fail sends an error as a Status. An error that is none comes from the request's end: then nobody waits for an answer.
func fail(w http.ResponseWriter, r *http.Request, err error) {
	var status *Status
	if !errors.As(err, &status) {
		return
	}
	if status.Details != nil && status.Details.RetryAfterSeconds > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(status.Details.RetryAfterSeconds))
	}
	send(w, r, status.Code, marshal(status))
}

// send answers with a JSON document.
func send(w http.ResponseWriter, r *http.Request, code int, body []byte) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	w.Write(layout(r, body))
}

// sendList is send with compression.
func sendList(w http.ResponseWriter, r *http.Request, body []byte) {
	body = layout(r, body)
	if len(body) > gzipFrom && strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		var b bytes.Buffer
		zip, _ := gzip.NewWriterLevel(&b, gzip.BestSpeed) // the level is valid
		zip.Write(body)
		zip.Close()
		body = b.Bytes()
		w.Header().Set("Content-Encoding", "gzip")
		w.Header().Add("Vary", "Accept-Encoding")
	}
	w.Header().Set("Content-Type", "application/json")
	w.Write(body)
}

// layout indents the document for those who look at it: with pretty, or without it for browsers and command-line tools.
func layout(r *http.Request, body []byte) []byte {
	agent := r.UserAgent()
	pretty := strings.HasPrefix(agent, "Mozilla/5.0") || strings.HasPrefix(agent, "curl") || strings.HasPrefix(agent, "Wget")
	if values := r.URL.Query(); values.Has("pretty") {
		pretty, _ = strconv.ParseBool(values.Get("pretty"))
	}
	if !pretty {
		return append(body[:len(body):len(body)], '\n')
	}
	var b bytes.Buffer
	if err := json.Indent(&b, body, "", "  "); err != nil {
		panic("lwtest: wrote a document that is not JSON: " + err.Error())
	}
	return b.Bytes()
}

// maxBody is how much of a request's body is read, as in a real server.
const maxBody = 3 << 20

func readBody(r *http.Request, media string) (fields, error) {
	if err := checkMedia(r, media); err != nil {
		return nil, err
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, maxBody+1))
	switch {
	case err != nil:
		return nil, badRequest("%v", err)
	case len(body) > maxBody:
		return nil, &Status{
			Code: http.StatusRequestEntityTooLarge, Reason: "RequestEntityTooLarge",
			Message: fmt.Sprintf("Request entity too large: limit is %d", maxBody),
		}
	}
	f, err := decodeFields(body)
	if err != nil {
		return nil, badRequest("%v", err)
	}
	return f, nil
}

func checkMedia(r *http.Request, accepted string) error {
	given := r.Header.Get("Content-Type")
	if given == "" && accepted == "application/json" {
		return nil
	}
	if media, _, err := mime.ParseMediaType(given); err != nil || media != accepted {
		return unsupportedMediaType(accepted)
	}
	return nil
}

// mergePatch applies a JSON merge patch, RFC 7386, to decoded fields.
func mergePatch(target, patch fields) fields {
	if target == nil {
		target = fields{}
	}
	for key, value := range patch {
		switch value := value.(type) {
		case nil:
			delete(target, key)
		case fields:
			sub, _ := target[key].(fields)
			target[key] = mergePatch(sub, value)
		default:
			target[key] = value
		}
	}
	return target
}

// requestManager returns the fieldManager parameter or the client's program name.
func requestManager(r *http.Request) string {
	program, _, _ := strings.Cut(r.UserAgent(), "/")
	return cmp.Or(r.URL.Query().Get("fieldManager"), program, "unknown")
}
