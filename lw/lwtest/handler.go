package lwtest

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
)

// ServeHTTP handles a request as kube-apiserver does. Use it to serve the same cluster through another HTTP server, for
// example with TLS.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if s.allowOrigin(w, r) {
		return
	}
	rt := s.find(r)
	request := newRequest(r, rt)
	ctx, end := s.begin(r, request)
	defer end()
	r = r.WithContext(ctx)
	var answer http.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { s.answer(w, r, rt) })
	if ctx.Err() == nil {
		if f := s.record(request); f != nil {
			f(w, r, answer)
		} else {
			answer.ServeHTTP(w, r)
		}
	}
	if context.Cause(ctx) == errDropped {
		panic(http.ErrAbortHandler)
	}
}

func (s *Server) answer(w http.ResponseWriter, r *http.Request, rt route) {
	w.Header().Set("Cache-Control", "no-cache, private")
	r, err := s.authorize(r, rt)
	if err != nil {
		fail(w, r, err)
		return
	}
	switch {
	case rt.version == "" || rt.plural == "":
		s.serveOther(w, r)
	case !s.serves(rt.group, rt.version):
		http.Error(w, "404 page not found", http.StatusNotFound)
	case rt.resource == nil:
		fail(w, r, noResource())
	default:
		s.serveObjects(w, r, rt)
	}
}

func (s *Server) serveObjects(w http.ResponseWriter, r *http.Request, rt route) {
	form, ok := negotiate(r)
	if !ok {
		fail(w, r, notAcceptable())
		return
	}
	switch {
	case rt.subresource == binding:
		s.serveBinding(w, r, rt)
		return
	case rt.verb == "list" || rt.verb == "watch":
		s.serveCollection(w, r, rt, form)
		return
	case (rt.verb == "create") != (rt.name == ""), rt.resource.Namespaced && rt.namespace == "":
		fail(w, r, methodNotAllowed())
		return
	}
	tables, err := form.tables(rt.resource, r.URL.Query())
	if err != nil {
		fail(w, r, err)
		return
	}
	o, code, err := s.serveObject(r, rt)
	switch {
	case err != nil:
		fail(w, r, err)
	case rt.verb == "delete":
		details := objectDetails(rt.resource, rt.name)
		details.UID = o.uid
		send(w, r, http.StatusOK, marshal(&apiStatus{Code: http.StatusOK, Details: details}))
	case tables != nil:
		send(w, r, code, tables.object(form.object(rt.resource, o)))
	default:
		send(w, r, code, form.object(rt.resource, o))
	}
}

func (s *Server) serveCollection(w http.ResponseWriter, r *http.Request, rt route, form form) {
	q, err := newQuery(rt.resource, rt.namespace, form, r.URL.Query())
	if err != nil {
		fail(w, r, err)
		return
	}
	if rt.verb == "list" {
		page, err := s.list(r.Context(), q)
		if err != nil {
			fail(w, r, err)
			return
		}
		sendList(w, r, page.encode(q))
		return
	}
	watch, err := s.newWatch(r.Context(), q)
	if err != nil {
		fail(w, r, err)
		return
	}
	if isWebSocket(r) {
		s.serveWebSocket(w, r, watch)
		return
	}
	s.serveStream(w, r, watch)
}

// serveStream writes each watch event as a line of the response body.
func (s *Server) serveStream(w http.ResponseWriter, r *http.Request, watch *watch) {
	send := http.NewResponseController(w).Flush
	out, flush := io.Writer(w), send
	if s.opts.CompressStreamingLists && watch.streaming && strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		w.Header().Set("Content-Encoding", "gzip")
		zip := gzip.NewWriter(w)
		out, flush = zip, func() error {
			err := zip.Close() // ends the gzip member
			zip.Reset(w)
			return errors.Join(err, send())
		}
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusOK)
	send()
	for frame, more := range watch.frames(r.Context()) {
		if _, err := out.Write(frame); err != nil {
			return
		}
		if !more {
			flush()
		}
	}
}

func (s *Server) serveObject(r *http.Request, rt route) (o *object, code int, err error) {
	res, manager := rt.resource, requestManager(r)
	switch rt.verb {
	case "get":
		o, err = s.get(res, rt.namespace, rt.name)
		return o, http.StatusOK, err
	case "create", "update":
		f, err := readBody(r, "application/json")
		switch {
		case err != nil:
			return nil, 0, err
		case rt.verb == "create":
			o, err = s.create(res, rt.namespace, f, manager)
			return o, http.StatusCreated, err
		}
		o, err = s.update(res, rt.namespace, rt.name, manager, func(*object) fields { return f })
		return o, http.StatusOK, err
	case "patch":
		patch, err := readBody(r, "application/merge-patch+json")
		if err != nil {
			return nil, 0, err
		}
		o, err = s.update(res, rt.namespace, rt.name, manager, func(old *object) fields { return mergePatch(old.decode(), patch) })
		return o, http.StatusOK, err
	case "delete":
		o, err = s.serveDelete(r, rt)
		return o, http.StatusOK, err
	}
	return nil, 0, methodNotAllowed()
}

func (s *Server) get(res *Resource, namespace, name string) (*object, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	entry, ok := s.log.Get(res.id(), res.key(namespace, name))
	if !ok {
		return nil, notFound(res, name)
	}
	return entry.Value, nil
}

func (s *Server) serveDelete(r *http.Request, rt route) (*object, error) {
	body, err := io.ReadAll(io.LimitReader(r.Body, maxBody))
	if err != nil {
		return nil, badRequest("%v", err)
	}
	var options struct {
		Preconditions struct {
			UID             string `json:"uid"`
			ResourceVersion string `json:"resourceVersion"`
		} `json:"preconditions"`
	}
	if len(body) > 0 {
		if err := checkMedia(r, "application/json"); err != nil {
			return nil, err
		}
		if err := json.Unmarshal(body, &options); err != nil {
			return nil, badRequest("%v", err)
		}
	}
	revision, err := parseVersion(options.Preconditions.ResourceVersion)
	if err != nil {
		return nil, badRequest("%v", err)
	}
	return s.remove(rt.resource, rt.namespace, rt.name, options.Preconditions.UID, revision)
}
