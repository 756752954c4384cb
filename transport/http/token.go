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

// tokenSource returns the bearer token for a request; "" for none.
type tokenSource func(context.Context) (string, error)

// tokenAge is how long a token read from a file is used before the file is read again.
const tokenAge = time.Minute

func newTokenSource(o *Options) (tokenSource, error) {
	switch {
	case o.TokenFunc != nil:
		return o.TokenFunc, nil
	case o.TokenFile != "":
		file := &tokenFile{path: o.TokenFile}
		_, err := file.read(context.Background())
		return file.read, err
	}
	return func(context.Context) (string, error) { return o.Token, nil }, nil
}

// tokenFile reads a token from a file that rotates.
type tokenFile struct {
	path string

	mu     sync.Mutex
	token  string
	readAt time.Time
}

func (f *tokenFile) read(context.Context) (string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.token != "" && time.Since(f.readAt) < tokenAge {
		return f.token, nil
	}
	text, err := os.ReadFile(f.path)
	if err != nil {
		return "", fmt.Errorf("http: the token's file: %w", err)
	}
	f.token, f.readAt = strings.TrimSpace(string(text)), time.Now()
	if f.token == "" {
		return "", errors.New("http: the token's file " + f.path + " is empty")
	}
	return f.token, nil
}
