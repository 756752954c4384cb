//go:build !js

package http

import (
	"bytes"
	"cmp"
	"context"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"sync"
	"sync/atomic"
	"time"
)

// fileAge is how long what was read from files is used before they are looked at again.
const fileAge = time.Minute

// source has the round trippers, and makes new ones when the files have changed or a CredentialFunc gives another certificate.
type source struct {
	opts   Options // a copy, because the caller may change its own
	server *url.URL
	theirs bool // the round trippers are the caller's
	now    atomic.Pointer[roundTrippers]
	turn   turn // held while the files are read and now is replaced

	mu       sync.Mutex
	lookedAt time.Time
}

// content is PEM, from files or not.
type content struct{ ca, cert, key string }

// with returns the content with the client certificate of a credential, unless that is nil.
func (c content) with(given *Credential) content {
	if given != nil {
		c.cert, c.key = string(given.CertData), string(given.KeyData)
	}
	return c
}

func newSource(o *Options, server *url.URL) (*source, error) {
	s := &source{opts: *o, server: server, theirs: o.Client != nil, turn: make(turn, 1), lookedAt: time.Now()}
	if s.theirs {
		theirs := cmp.Or(o.Client.Transport, http.DefaultTransport)
		s.now.Store(&roundTrippers{trusted: theirs, bare: theirs})
		return s, nil
	}
	found, err := s.read(content{ca: string(o.CAData), cert: string(o.CertData), key: string(o.KeyData)})
	if err != nil {
		return nil, err
	}
	made, err := s.opts.newRoundTrippers(found, server)
	s.now.Store(made)
	return s, err
}

// current returns the round trippers for a request. They have the client certificate of given, unless that is nil. failed are
// those that the request has just failed with, or nil. After a failure the files are read at once, unless the failure of
// another request has already led to newer round trippers.
func (s *source) current(ctx context.Context, given *Credential, failed *roundTrippers) (made *roundTrippers, err error) {
	now := s.now.Load()
	other := now.from != now.from.with(given)
	if s.theirs && other {
		return nil, errors.New("http: with Client set, CredentialFunc can give no certificate")
	}
	if !other && !s.due(now, failed) {
		return now, nil
	}
	ended := s.turn.do(ctx, func() { made, err = s.renew(given, failed) })
	if ended != nil {
		return nil, ended
	}
	return made, err
}

// due reports whether the files are to be read.
func (s *source) due(now, failed *roundTrippers) bool {
	if s.theirs || s.opts.caFile() == "" && s.opts.certFile() == "" {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return failed == now || time.Since(s.lookedAt) >= fileAge
}

// renew replaces the round trippers if they are not those that [source.current] has to return.
func (s *source) renew(given *Credential, failed *roundTrippers) (*roundTrippers, error) {
	now := s.now.Load()
	if wanted := now.from.with(given); wanted != now.from {
		made, err := s.replace(now, wanted)
		if err != nil {
			return nil, err
		}
		now = made
	}
	if !s.due(now, failed) {
		return now, nil
	}
	s.mu.Lock()
	s.lookedAt = time.Now()
	s.mu.Unlock()
	found, err := s.read(now.from)
	if err != nil || found == now.from {
		return now, nil
	}
	made, err := s.replace(now, found)
	if err != nil {
		return now, nil // the files may be incomplete
	}
	return made, nil
}

func (s *source) replace(now *roundTrippers, with content) (*roundTrippers, error) {
	made, err := s.opts.newRoundTrippers(with, s.server)
	if err != nil {
		return nil, err
	}
	s.now.Store(made)
	now.closeIdle()
	return made, nil
}

// read returns the content with those parts replaced that come from files.
func (s *source) read(c content) (content, error) {
	var err error
	load := func(what, path string, into *string) {
		if err != nil {
			return
		}
		text, failure := readFile(what, path)
		if failure == nil && !whole(text) {
			failure = fmt.Errorf("%s %q is cut short", what, path)
		}
		if failure != nil {
			err = fileError(what, failure)
		}
		*into = string(text)
	}
	if path := s.opts.caFile(); path != "" {
		load("certificate authority file", path, &c.ca)
	}
	if path := s.opts.certFile(); path != "" {
		load("client certificate file", path, &c.cert)
		load("client key file", s.opts.KeyFile, &c.key)
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
