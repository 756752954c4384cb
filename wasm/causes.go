//go:build js

package main

import (
	"errors"
	"strconv"
	"strings"

	"github.com/seed-6d2a410a/listwatch/lw"
)

// isPermanent reports whether a retry cannot help. In addition to [lw.IsPermanent], it includes 400 and 422, the codes
// for invalid options such as selectors.
func isPermanent(err error) bool {
	status, ok := errors.AsType[*lw.StatusError](err)
	return ok && (lw.IsPermanent(err) || status.Code == 400 || status.Code == 422)
}

// errorFields returns the code and the message of an error, and the status code and the reason of its error response.
// Without an error response, the last two strings are empty.
func errorFields(err error) []string {
	fields := []string{errorCode(err), forJS(err.Error()), "", ""}
	if status, ok := errors.AsType[*lw.StatusError](err); ok {
		fields[2], fields[3] = strconv.Itoa(status.Code), status.Reason
	}
	return fields
}

// forJS returns the text of an error or a warning for JavaScript. It replaces the names of Go options with the names of
// listWatch's options, because users of the npm package do not know the Go API.
func forJS(text string) string {
	for _, names := range [...][2]string{
		{": raise ClientOptions.MaxFrame if this is expected", ""}, // listWatch has no such option
		{"raise the limit in LimitObjects", "raise maxObjects"},
		{"Options.NoStreamingList", "streamingLists: false"},
		{": split \"apps/v1\" into Group and Version, and use Name for an object", ""},
		{"lw: Resource", "listwatch: the resource"},
		{"lw: path \"", "listwatch: the path \""},
	} {
		text = strings.ReplaceAll(text, names[0], names[1])
	}
	return text
}

// errorCode returns the string that identifies an error in JavaScript, for example "not-found".
func errorCode(err error) string {
	for _, known := range []struct {
		err  error
		code string
	}{
		{lw.ErrUnauthorized, "unauthorized"}, {lw.ErrForbidden, "forbidden"}, {lw.ErrNotFound, "not-found"},
		{lw.ErrExpired, "expired"}, {lw.ErrTooManyRequests, "too-many-requests"}, {lw.ErrWatchClosed, "closed"},
		{lw.ErrSilent, "silent"}, {lw.ErrTooManyObjects, "too-large"}, {lw.ErrTooLarge, "too-large"}, {errors.ErrUnsupported, "unsupported"},
	} {
		if errors.Is(err, known.err) {
			return known.code
		}
	}
	if _, ok := errors.AsType[*lw.StatusError](err); ok {
		if isPermanent(err) {
			return "invalid"
		}
		return "status"
	}
	if errors.Is(err, lw.ErrInvalidResponse) {
		return "malformed"
	}
	return "network"
}
