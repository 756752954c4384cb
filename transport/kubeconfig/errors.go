//go:build !js

package kubeconfig

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/seed-6d2a410a/listwatch/internal/nearest"
)

// ErrNowhere reports that neither the kubeconfig, the service account nor the options name a server.
var ErrNowhere = errors.New("no server")

// Error reports a mistake in a kubeconfig or a failed credential plugin. It wraps the cause and contains no secrets.
// Its text contains the file, the line, the column, the entry and the field.
type Error struct {
	File  string // path of the kubeconfig; "" if the mistake is in the options
	Entry string // for example `user "dev"`; "" if the mistake is not in an entry
	Hint  string // advice if a credential plugin is missing or has failed; otherwise ""

	field        string // for example "client-key" or "exec.command"; "" if the mistake is not in a field
	line, column int    // position in File, starting at 1; 0 if unknown
	err          error  // cause that Unwrap returns
}

// Error returns a string such as: ~/.kube/config:12:17: user "dev": client-key: open /x: no such file or directory.
func (e *Error) Error() string {
	file := short(e.File)
	for _, number := range []int{e.line, e.column} {
		if file != "" && number > 0 {
			file += ":" + strconv.Itoa(number)
		}
	}
	text := ""
	for _, part := range []string{file, e.Entry, e.field} {
		if part != "" {
			text += part + ": "
		}
	}
	// For example, "server: the value is missing" becomes "server is missing".
	message := e.err.Error()
	if rest, ok := strings.CutPrefix(message, "the value "); ok && e.Entry+e.field != "" {
		return strings.TrimSuffix(text, ": ") + " " + rest
	}
	return text + message
}

func (e *Error) Unwrap() error { return e.err }

// short replaces the user's home folder at the beginning of a path with "~".
func short(path string) string {
	home, err := os.UserHomeDir()
	if rest, ok := strings.CutPrefix(path, home+string(filepath.Separator)); ok && err == nil && home != "" {
		return "~" + string(filepath.Separator) + rest
	}
	return path
}

// suggest returns a hint with the names that are most similar to name, and the number of other names.
func suggest(name string, all []string) (text string) {
	near := nearest.To(name, all)
	for i, name := range near {
		text += []string{"; try ", " or "}[min(i, 1)] + strconv.Quote(name)
	}
	if more := len(all) - len(near); more > 0 {
		text += " (" + strconv.Itoa(more) + " more)"
	}
	return text
}
