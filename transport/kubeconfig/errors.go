//go:build !js

package kubeconfig

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// ErrNowhere says that nothing names a server: no file, no context in it, no service account, no option.
var ErrNowhere = errors.New("no server")

// Error says what is wrong with which field of which file. What it wraps holds no values of secret fields.
type Error struct {
	File  string // the kubeconfig; "" if it is none's fault
	Entry string // as `user "dev"`; "" if it is none's
	Field string // as "client-key" or "exec.command"; "" if it is none's
	Line  int    // in File, from 1; 0 if it is none's
	Err   error
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

// UnknownError says that there is no entry of a name.
type UnknownError struct {
	Kind string   // "context", "cluster" or "user"
	Name string   // that was looked for
	Near []string // up to three names that there are, the most similar first
}

// Error implements error.
func (e *UnknownError) Error() string {
	text := "there is no " + e.Kind + " " + strconv.Quote(e.Name)
	if len(e.Near) > 0 {
		text += "; " + exists(e.Near)
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
