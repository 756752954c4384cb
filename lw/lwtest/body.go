package lwtest

import (
	"cmp"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"
)

// maxBody is the size limit of a request body in bytes, the same as in kube-apiserver.
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
		return nil, &apiStatus{
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
	media, _, err := mime.ParseMediaType(given)
	if err == nil && media == accepted {
		return nil
	}
	status := unsupportedMediaType(accepted)
	if media == "application/vnd.kubernetes.protobuf" {
		status.Message += `. lwtest does not read protobuf: in client-go, set ContentType to "application/json" in the rest.Config`
	}
	return status
}

// mergePatch applies a JSON merge patch (RFC 7386) to decoded fields.
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

// requestManager returns the field manager of a request: the parameter fieldManager, or else the program name in the
// User-Agent header.
func requestManager(r *http.Request) string {
	program, _, _ := strings.Cut(r.UserAgent(), "/")
	return cmp.Or(r.URL.Query().Get("fieldManager"), program, "unknown")
}
