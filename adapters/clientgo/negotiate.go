package clientgo

import (
	"errors"
	"net/http"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/seed-6d2a410a/listwatch/lw"
)

func isNotAcceptable(err error) bool {
	status, ok := errors.AsType[*lw.StatusError](err)
	return ok && status.Code == http.StatusNotAcceptable
}

// wantsProtobuf reports whether an Accept header prefers protobuf. Package lw sends such headers.
func wantsProtobuf(accept string) bool { return strings.HasPrefix(accept, runtime.ContentTypeProtobuf) }

// allowsProtobuf reports whether an Accept header of client-go allows protobuf. It ignores "*/*", which client-go adds
// to every Accept header.
func allowsProtobuf(accept string) bool {
	return accept == "" || strings.Contains(accept, runtime.ContentTypeProtobuf)
}

// requireProtobuf turns the response into a 406 response if the request prefers protobuf and the server sent JSON. A
// response without a Content-Type counts as JSON.
func requireProtobuf(request *http.Request, response *http.Response) error {
	if !wantsProtobuf(request.Header.Get("Accept")) || response.StatusCode != http.StatusOK {
		return nil
	}
	if has := response.Header.Get("Content-Type"); has != "" && !strings.HasPrefix(has, runtime.ContentTypeJSON) {
		return nil
	}
	err := response.Body.Close()
	response.StatusCode, response.Status, response.Body = http.StatusNotAcceptable, "406 Not Acceptable", http.NoBody
	return err
}
