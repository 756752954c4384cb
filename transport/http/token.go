//go:build !js

package http

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"
)

// tokenSource returns the bearer token for a request; "" for none. refused is the one that the server has just answered 401
// for; "" before the first try.
type tokenSource func(ctx context.Context, refused string) (string, error)

func newTokenSource(o *Options) (tokenSource, error) {
	switch {
	case o.TokenFunc != nil:
		ask := o.TokenFunc
		return func(ctx context.Context, _ string) (string, error) { return ask(ctx) }, nil
	case o.TokenFile != "":
		file := &tokenFile{path: o.TokenFile}
		_, err := file.current(context.Background(), "")
		return file.current, err
	}
	token := o.Token
	return func(context.Context, string) (string, error) { return token, nil }, nil
}

// tokenFile is a token from a file that rotates.
type tokenFile struct {
	path string

	mu     sync.Mutex
	token  string // "" until the file has been read
	readAt time.Time
}

// current reads the file if that is due. A file that has become unreadable is looked at again as if it were good: the old
// token may live on for a while, and if not then the server says so.
func (f *tokenFile) current(_ context.Context, refused string) (string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.token != "" && f.token != refused && time.Since(f.readAt) < fileAge {
		return f.token, nil
	}
	f.readAt = time.Now()
	token, err := f.read()
	if err == nil {
		f.token = token
	} else if f.token == "" {
		return "", err
	}
	return f.token, nil
}

func (f *tokenFile) read() (string, error) {
	text, err := os.ReadFile(f.path)
	if err != nil {
		return "", fmt.Errorf("http: the token's file: %w", err)
	}
	token := strings.TrimSpace(string(text))
	if token == "" {
		return "", errors.New("http: the token's file " + f.path + " is empty")
	}
	return token, nil
}
