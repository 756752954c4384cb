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

// recheckInterval is the time after which a request reads the credential files again.
const recheckInterval = time.Minute

// transportSource provides the round trippers for requests. It replaces them when the files or the CredentialFunc
// provide different certificates.
type transportSource struct {
	opts        Options // a copy, because the caller may change its options
	server      *url.URL
	callerOwned bool // the round trippers belong to Options.Client
	active      atomic.Pointer[roundTrippers]
	lock        contextLock // held while reading the files and replacing the round trippers

	mu        sync.Mutex
	checkedAt time.Time
}

// content is the PEM data of the certificate authorities, the client certificate and its key.
type content struct{ ca, cert, key string }

// withCertificate returns a copy of c with the client certificate of credential. If credential is nil, it returns c.
func (c content) withCertificate(credential *Credential) content {
	if credential != nil {
		c.cert, c.key = string(credential.CertData), string(credential.KeyData)
	}
	return c
}

func newTransportSource(o *Options, server *url.URL) (*transportSource, error) {
	s := &transportSource{opts: *o, server: server, callerOwned: o.Client != nil, lock: make(contextLock, 1), checkedAt: time.Now()}
	if s.callerOwned {
		custom := cmp.Or(o.Client.Transport, http.DefaultTransport)
		s.active.Store(&roundTrippers{authenticated: custom, anonymous: custom})
		return s, nil
	}
	found, err := s.read(content{ca: string(o.CAData), cert: string(o.CertData), key: string(o.KeyData)})
	if err != nil {
		return nil, err
	}
	made, err := s.opts.newRoundTrippers(found, server)
	s.active.Store(made)
	return s, err
}

// current returns the round trippers for a request. If credential is not nil, they use its client certificate. failed
// is nil, or the round trippers of a failed first attempt. If failed is still in use, current reads the files again.
func (s *transportSource) current(ctx context.Context, credential *Credential, failed *roundTrippers) (*roundTrippers, error) {
	now := s.active.Load()
	other := now.content != now.content.withCertificate(credential)
	if s.callerOwned && other {
		return nil, errors.New("http: if Client is set, CredentialFunc must not return a certificate")
	}
	if !other && !s.isDue(now, failed) {
		return now, nil
	}
	var made *roundTrippers
	var err error
	if ended := s.lock.do(ctx, func() { made, err = s.replaceIfStale(credential, failed) }); ended != nil {
		return nil, ended // the function may still be running, so its results must not be read or written
	}
	return made, err
}

// isDue reports whether the files must be read again, because a request failed or because the last read is at least a
// minute old.
func (s *transportSource) isDue(now, failed *roundTrippers) bool {
	if s.callerOwned || s.opts.caFile() == "" && s.opts.certFile() == "" {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return failed == now || time.Since(s.checkedAt) >= recheckInterval
}

// replaceIfStale replaces the round trippers if the credential or the files have changed. It returns the round trippers
// in use.
func (s *transportSource) replaceIfStale(credential *Credential, failed *roundTrippers) (*roundTrippers, error) {
	now := s.active.Load()
	if wanted := now.content.withCertificate(credential); wanted != now.content {
		made, err := s.replace(now, wanted)
		if err != nil {
			return nil, err
		}
		now = made
	}
	if !s.isDue(now, failed) {
		return now, nil
	}
	s.mu.Lock()
	s.checkedAt = time.Now()
	s.mu.Unlock()
	found, err := s.read(now.content)
	if err != nil || found == now.content {
		return now, nil
	}
	made, err := s.replace(now, found)
	if err != nil {
		return now, nil // the files may be incomplete while they are replaced
	}
	return made, nil
}

func (s *transportSource) replace(now *roundTrippers, with content) (*roundTrippers, error) {
	made, err := s.opts.newRoundTrippers(with, s.server)
	if err != nil {
		return nil, err
	}
	s.active.Store(made)
	now.closeIdle()
	return made, nil
}

// read returns a copy of c with the current contents of the files.
func (s *transportSource) read(c content) (content, error) {
	var err error
	load := func(name, path string, into *string) {
		if err != nil {
			return
		}
		text, failure := readFile(name, path)
		if failure == nil && !isCompletePEM(text) {
			failure = fmt.Errorf("%s %q is truncated", name, path)
		}
		if failure != nil {
			err = fileError(name, failure)
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

// isCompletePEM returns false if text ends with a truncated PEM block. A file may be read while it is being written.
func isCompletePEM(text []byte) bool {
	for block, rest := pem.Decode(text); block != nil; block, rest = pem.Decode(rest) {
		text = rest
	}
	return !bytes.Contains(text, []byte("-----BEGIN "))
}

// lease is a response body. If the round trippers of its request have been replaced, Close also closes their idle
// connections.
type lease struct {
	io.ReadCloser
	source *transportSource
	via    *roundTrippers
	end    func() // releases the context of the request
}

func (l *lease) Close() error {
	err := l.ReadCloser.Close()
	l.end()
	if l.source.active.Load() != l.via {
		l.via.closeIdle()
	}
	return err
}
