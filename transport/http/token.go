//go:build !js

package http

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"sync"
	"time"

	"github.com/seed-6d2a410a/listwatch/internal/secretfile"
)

// tokenSource returns the bearer token for a request, or "" for no token. rejected is the token that the server
// rejected with 401, or "" for the first attempt.
type tokenSource func(ctx context.Context, rejected string) (string, error)

func newTokenSource(o *Options) (tokenSource, error) {
	switch {
	case o.TokenFunc != nil:
		ask := o.TokenFunc
		return func(ctx context.Context, _ string) (string, error) { return ask(ctx) }, nil
	case o.TokenFile != "":
		file := &tokenFile{path: o.TokenFile, lock: make(contextLock, 1)}
		_, err := file.current(context.Background(), "")
		return file.current, err
	}
	token := o.Token
	return func(context.Context, string) (string, error) { return token, nil }, nil
}

// tokenFile is a token source that reads a file and caches the token.
type tokenFile struct {
	path string
	lock contextLock // held while the file is read

	mu     sync.Mutex
	token  string // "" until the first read
	readAt time.Time
}

// current returns the token, and reads the file again if necessary. If reading fails, it returns the previous token.
func (f *tokenFile) current(ctx context.Context, rejected string) (string, error) {
	if token := f.cached(rejected); token != "" {
		return token, nil
	}
	var token string
	var err error
	ended := f.lock.do(ctx, func() {
		token = f.cached(rejected)
		if token == "" {
			token, err = f.load()
		}
	})
	if ended != nil {
		return "", ended
	}
	return token, err
}

// cached returns the current token, or "" if the file must be read.
func (f *tokenFile) cached(rejected string) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.token == rejected || time.Since(f.readAt) >= recheckInterval {
		return ""
	}
	return f.token
}

func (f *tokenFile) load() (string, error) {
	f.mu.Lock()
	f.readAt = time.Now() // set before reading, so that other requests use the old token during the read
	f.mu.Unlock()
	token, err := f.read()
	f.mu.Lock()
	defer f.mu.Unlock()
	if err == nil {
		f.token = token
	} else if f.token == "" {
		return "", err
	}
	return f.token, nil
}

func (f *tokenFile) read() (string, error) {
	text, err := readFile("token file", f.path)
	if err != nil {
		return "", fileError("token file", err)
	}
	token := strings.TrimSpace(string(text))
	if token == "" {
		return "", fmt.Errorf("http: token file %q is empty", f.path)
	}
	return token, nil
}

// readFile is a variable so that tests can replace the function.
var readFile = secretfile.Read

// fileError adds the purpose of the file, for example "token file", to err. The text of err already contains the path.
func fileError(name string, err error) error {
	if _, ok := errors.AsType[*fs.PathError](err); ok {
		return fmt.Errorf("http: %s: %w", name, err)
	}
	return fmt.Errorf("http: %w", err)
}
