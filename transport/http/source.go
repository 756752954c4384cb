//go:build !js

package http

import (
	"bytes"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// fileAge is how long what was read from files is used before they are looked at again.
const fileAge = time.Minute

// source has the round trippers, and makes new ones when the files that they were made from have changed.
type source struct {
	opts   Options // the caller may change its own
	server *url.URL
	theirs bool // the round trippers are the caller's
	now    atomic.Pointer[roundTrippers]

	mu       sync.Mutex // held while the files are looked at
	content  content    // what now was made from
	lookedAt time.Time
}

// content is PEM, from files or not.
type content struct{ ca, cert, key string }

func newSource(o *Options, server *url.URL) (*source, error) {
	s := &source{opts: *o, server: server, theirs: o.Client != nil, lookedAt: time.Now()}
	if s.theirs {
		theirs := o.Client.Transport
		if theirs == nil {
			theirs = http.DefaultTransport
		}
		s.now.Store(&roundTrippers{trusted: theirs, bare: theirs})
		return s, nil
	}
	s.content = content{ca: string(o.CAData), cert: string(o.CertData), key: string(o.KeyData)}
	var err error
	if s.content, err = s.read(); err != nil {
		return nil, err
	}
	made, err := s.opts.newRoundTrippers(s.content, server)
	s.now.Store(made)
	return s, err
}

// current returns the round trippers for a request. failed are those that it has just failed with, if it has: then the
// files are looked at at once, unless another request's failure has led to newer ones already.
func (s *source) current(failed *roundTrippers) *roundTrippers {
	now := s.now.Load()
	if s.theirs || s.opts.caFile() == "" && s.opts.certFile() == "" {
		return now
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if now = s.now.Load(); failed != now && time.Since(s.lookedAt) < fileAge {
		return now
	}
	s.lookedAt = time.Now()
	found, err := s.read()
	if err != nil || found == s.content {
		return now
	}
	made, err := s.opts.newRoundTrippers(found, s.server)
	if err != nil {
		return now // whoever writes the files may not have finished
	}
	s.content = found
	s.now.Store(made)
	now.closeIdle()
	return made
}

// present makes round trippers with the client certificate of a credential, if it is not theirs already.
func (s *source) present(c *Credential) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if string(c.CertData) == s.content.cert && string(c.KeyData) == s.content.key {
		return nil
	}
	if s.theirs {
		return errors.New("http: with Client set, CredentialFunc can give no certificate")
	}
	next := content{ca: s.content.ca, cert: string(c.CertData), key: string(c.KeyData)}
	made, err := s.opts.newRoundTrippers(next, s.server)
	if err != nil {
		return err
	}
	s.content = next
	s.now.Swap(made).closeIdle()
	return nil
}

// read returns the content with those parts replaced that come from files.
func (s *source) read() (content, error) {
	c, err := s.content, error(nil)
	load := func(what, path string, into *string) {
		if err != nil {
			return
		}
		text, failure := os.ReadFile(path)
		if failure == nil && !whole(text) {
			failure = errors.New(path + " is cut short")
		}
		if failure != nil {
			err = fmt.Errorf("http: the %s: %w", what, failure)
		}
		*into = string(text)
	}
	if path := s.opts.caFile(); path != "" {
		load("certificate authority's file", path, &c.ca)
	}
	if path := s.opts.certFile(); path != "" {
		load("client certificate", path, &c.cert)
		load("client certificate", s.opts.KeyFile, &c.key)
	}
	return c, err
}

// whole is false if the last block of PEM is cut short, as in a file that is being written: the blocks before it are good,
// and would pass for all there is.
func whole(text []byte) bool {
	for block, rest := pem.Decode(text); block != nil; block, rest = pem.Decode(rest) {
		text = rest
	}
	return !bytes.Contains(text, []byte("-----BEGIN "))
}

// lease is the body of a response. When the files have changed since, closing it closes its connection, too, if that is
// idle now: nobody will use it again.
type lease struct {
	io.ReadCloser
	source *source
	via    *roundTrippers
}

func (l *lease) Close() error {
	err := l.ReadCloser.Close()
	if l.source.now.Load() != l.via {
		l.via.closeIdle()
	}
	return err
}
