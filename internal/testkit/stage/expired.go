//go:build !js

package main

import (
	"errors"
	"net/http"

	"github.com/seed-6d2a410a/listwatch/internal/wsframe"
	"github.com/seed-6d2a410a/listwatch/lw/lwtest"
)

// tooOld is the ERROR event for an expired resourceVersion.
const tooOld = `{"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure",` +
	`"message":"too old resource version: 1 (2)","reason":"Expired","code":410}}` + "\n"

// expired returns a fault that forwards n events of a watch, then sends tooOld and ends the watch.
func expired(n int) lwtest.Fault {
	socket := lwtest.ReplaceFrame(n, func([]byte) ([]byte, bool) { return wsframe.New(1, true, []byte(tooOld)), true })
	return func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		socket(&expiring{w, n}, r, next)
	}
}

type expiring struct {
	http.ResponseWriter
	left int // number of events still to be forwarded
}

var errExpired = errors.New("the watch has expired")

// Unwrap lets http.ResponseController flush the response.
func (e *expiring) Unwrap() http.ResponseWriter { return e.ResponseWriter }

func (e *expiring) Write(event []byte) (int, error) {
	if e.left == 0 {
		_, _ = e.ResponseWriter.Write([]byte(tooOld))
		return 0, errExpired
	}
	e.left--
	return e.ResponseWriter.Write(event)
}
