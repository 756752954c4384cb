package lwtest

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"strings"
)

// gzipFrom is the size in bytes above which lists are compressed.
const gzipFrom = 131_072

// fail sends err as a Status if it is an *apiStatus. It sends nothing for other errors, because the request has already
// ended.
func fail(w http.ResponseWriter, r *http.Request, err error) {
	var status *apiStatus
	if !errors.As(err, &status) {
		return
	}
	if status.Details != nil && status.Details.RetryAfterSeconds > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(status.Details.RetryAfterSeconds))
	}
	send(w, r, status.Code, marshal(status))
}

// send writes body as a JSON response, indented if the client prefers it.
func send(w http.ResponseWriter, r *http.Request, code int, body []byte) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	w.Write(layout(r, body))
}

// sendList writes a list, compressed if it is large and the client accepts gzip.
func sendList(w http.ResponseWriter, r *http.Request, body []byte) {
	body = layout(r, body)
	if len(body) > gzipFrom && strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		var b bytes.Buffer
		zip, _ := gzip.NewWriterLevel(&b, gzip.BestSpeed) // cannot fail, because the level is valid
		zip.Write(body)
		zip.Close()
		body = b.Bytes()
		w.Header().Set("Content-Encoding", "gzip")
		w.Header().Add("Vary", "Accept-Encoding")
	}
	w.Header().Set("Content-Type", "application/json")
	w.Write(body)
}

// layout returns body with a final newline. If the query parameter pretty is true, it indents the JSON instead. By
// default, it indents the JSON for browsers, curl and Wget.
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
		panic("lwtest: the response is not valid JSON: " + err.Error())
	}
	return b.Bytes()
}
