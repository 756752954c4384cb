//go:build js

package main

import (
	"errors"
	"strconv"

	"github.com/seed-6d2a410a/listwatch/lw"
)

// isPermanent reports whether a retry cannot help, for example because a selector is invalid.
func isPermanent(err error) bool {
	status, ok := errors.AsType[*lw.StatusError](err)
	return ok && (lw.IsPermanent(err) || status.Code == 400 || status.Code == 422)
}

// errorFields returns the code and the message of an error, and the status code and the reason of its error response.
// Without an error response, the last two are "".
func errorFields(err error) []string {
	if status, ok := errors.AsType[*lw.StatusError](err); ok {
		code := errorCode(err, "status")
		if code == "status" && isPermanent(err) {
			code = "invalid"
		}
		return []string{code, err.Error(), strconv.Itoa(status.Code), status.Reason}
	}
	if _, ok := errors.AsType[*lw.MalformedError](err); ok {
		return []string{"malformed", err.Error(), "", ""}
	}
	if _, ok := errors.AsType[*lw.FrameTooLargeError](err); ok {
		return []string{"too-large", err.Error(), "", ""}
	}
	return []string{errorCode(err, "network"), err.Error(), "", ""}
}

func errorCode(err error, otherwise string) string {
	for _, known := range []struct {
		err  error
		code string
	}{
		{lw.ErrUnauthorized, "unauthorized"}, {lw.ErrForbidden, "forbidden"}, {lw.ErrNotFound, "not-found"},
		{lw.ErrExpired, "expired"}, {lw.ErrTooManyRequests, "too-many-requests"}, {lw.ErrWatchClosed, "closed"},
		{lw.ErrSilent, "silent"}, {lw.ErrTooManyObjects, "too-large"}, {errors.ErrUnsupported, "unsupported"},
	} {
		if errors.Is(err, known.err) {
			return known.code
		}
	}
	return otherwise
}
