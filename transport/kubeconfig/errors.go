//go:build !js

package kubeconfig

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// ErrNowhere reports that no file, no context, no service account and no option names a server.
var ErrNowhere = errors.New("no server")

// Error reports a mistake in a kubeconfig, or a credential plugin that failed. It holds no values of secret fields.
type Error struct {
	File  string // the kubeconfig; "" if the mistake is in the options
	Entry string // for example `user "dev"`; "" if the mistake is in no entry
	Field string // for example "client-key" or "exec.command"; "" if the mistake is in no field
	Line  int    // in File, from 1; 0 if unknown
	Err   error  // the cause
	Hint  string // a remedy for a credential plugin that is missing or that failed; otherwise ""
}

// set stores the cause and its remedy.
func (e *Error) set(err error) {
	e.Err = err
	if failed, ok := errors.AsType[*execError](err); ok {
		e.Hint = failed.hint()
	}
}

// Error implements error: ~/.kube/config:12: user "dev": client-key: open /x: no such file or directory.
func (e *Error) Error() string {
	file := short(e.File)
	if file != "" && e.Line > 0 {
		file += ":" + strconv.Itoa(e.Line)
	}
	text := ""
	for _, part := range []string{file, e.Entry, e.Field} {
		if part != "" {
			text += part + ": "
		}
	}
	return text + e.Err.Error()
}

func (e *Error) Unwrap() error { return e.Err }

// short writes ~ for the home folder.
func short(path string) string {
	home, err := os.UserHomeDir()
	if rest, ok := strings.CutPrefix(path, home+string(filepath.Separator)); ok && err == nil && home != "" {
		return "~" + string(filepath.Separator) + rest
	}
	return path
}

// unknownError reports a name without an entry.
type unknownError struct {
	kind string   // "context", "cluster" or "user"
	name string   // the missing name
	near []string // up to three existing names, the most similar first
}

func (e *unknownError) Error() string {
	text := "there is no " + e.kind + " " + strconv.Quote(e.name)
	if len(e.near) > 0 {
		text += "; " + exists(e.near)
	}
	return text
}

// exists says what there is.
func exists(names []string) (text string) {
	for i, name := range names {
		text += []string{"there is ", ", "}[min(i, 1)] + strconv.Quote(name)
	}
	return text
}
