package lwtest

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-6d2a410a/listwatch/lw"
)

// ServeHTTP handles a request as kube-apiserver does. Use it to serve the same cluster through another HTTP server, for
// example with TLS.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if s.allowOrigin(w, r) {
		return
	}
	rt := s.find(r)
	request := Request{r.Clone(context.Background()), rt.verb}
	request.Body = nil
	ctx, end := s.begin(r, request)
	defer end()
	r = r.WithContext(ctx)
	if ctx.Err() == nil {
		answer := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { s.answer(w, r, rt) })
		if f := s.record(request); f != nil {
			f(w, r, answer)
		} else {
			answer(w, r)
		}
	}
	// Without the panic, net/http would end the response as if it were complete.
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
	case !slices.Contains(s.versions(rt.group), rt.version):
		http.Error(w, "404 page not found", http.StatusNotFound) // like kube-apiserver, without a Status
	case rt.resource == nil:
		fail(w, r, noResource())
	default:
		s.serveObjects(w, r, rt)
	}
}

func (s *Server) serveObjects(w http.ResponseWriter, r *http.Request, rt route) {
	v, err := newView(r, rt.resource)
	switch {
	case err != nil:
		fail(w, r, err)
		return
	case rt.subresource == binding:
		if err := s.bind(r, rt); err != nil {
			fail(w, r, err)
			return
		}
		// Like kube-apiserver, the server includes a code in this Success response, but not in the response to a
		// deletion.
		send(w, r, http.StatusCreated, []byte(`{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Success","code":201}`))
		return
	case rt.verb == "list" || rt.verb == "watch":
		s.serveCollection(w, r, rt, v)
		return
	case (rt.verb == "create") != (rt.name == ""), rt.resource.namespaced && rt.namespace == "":
		// Of the remaining verbs, only create is for a collection. The path of a namespaced resource must contain a namespace.
		fail(w, r, methodNotAllowed())
		return
	}
	o, code, err := s.serveObject(r, rt)
	switch {
	case err != nil:
		fail(w, r, err)
	case rt.verb == "delete":
		details := &wireDetails{Name: rt.name, Group: rt.group, Kind: rt.plural, UID: o.uid}
		send(w, r, code, marshal(wireStatus{Kind: "Status", APIVersion: "v1", Status: "Success", Details: details}))
	default:
		send(w, r, code, v.object(o))
	}
}

func (s *Server) serveCollection(w http.ResponseWriter, r *http.Request, rt route, v *view) {
	q, err := newQuery(v, rt.namespace, r.URL.Query())
	if err != nil {
		fail(w, r, err)
		return
	}
	if rt.verb == "list" {
		page, err := s.list(r.Context(), q)
		if err != nil {
			failList(w, r, err, page.proceed)
		} else {
			sendList(w, r, v.list(page))
		}
		return
	}
	watch, err := s.newWatch(r.Context(), q)
	switch {
	case err != nil:
		fail(w, r, err)
	case isWebSocket(r):
		s.serveWebSocket(w, r, watch)
	default:
		s.serveStream(w, r, watch)
	}
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
	send() // because the first event may come much later
	for frame, more := range watch.frames(r.Context()) {
		if _, err := out.Write(frame); err != nil {
			return
		}
		if !more {
			flush()
		}
	}
}

// writeMedia maps each verb that writes an object to the media type of its body.
var writeMedia = map[string]string{"create": "application/json", "update": "application/json", "patch": "application/merge-patch+json"}

func (s *Server) serveObject(r *http.Request, rt route) (o *object, code int, err error) {
	res, manager := rt.resource, requestManager(r)
	var body fields
	if media, ok := writeMedia[rt.verb]; ok {
		if body, err = readBody(r, media); err != nil {
			return nil, 0, err
		}
	}
	switch code = http.StatusOK; rt.verb {
	case "get":
		o, err = s.get(res, rt.namespace, rt.name)
	case "create":
		code = http.StatusCreated
		o, err = s.create(res, rt.namespace, body, manager)
	case "update":
		o, err = s.update(res, rt.namespace, rt.name, manager, func(*object) fields { return body })
	case "patch":
		o, err = s.update(res, rt.namespace, rt.name, manager, func(old *object) fields { return mergePatch(old.decode(), body) })
	case "delete":
		o, err = s.serveDelete(r, rt)
	default:
		err = methodNotAllowed()
	}
	return o, code, err
}

func (s *Server) get(res *resource, namespace, name string) (*object, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	entry, ok := s.log.Get(res.id(), res.key(namespace, name))
	if !ok {
		return nil, notFound(res, name)
	}
	return entry.Value, nil
}

func (s *Server) serveDelete(r *http.Request, rt route) (*object, error) {
	var preconditions fields
	if r.ContentLength != 0 {
		options, err := readBody(r, "application/json")
		if err != nil {
			return nil, err
		}
		preconditions, _ = options["preconditions"].(fields)
	}
	return s.remove(rt.resource, rt.namespace, rt.name, preconditions)
}

// gzipFrom is the size in bytes above which lists are compressed, the same as in kube-apiserver.
const gzipFrom = 131_072

// fail sends err as a Status if it is an *lw.StatusError. It sends nothing for other errors, because the client has
// disconnected or the server has canceled the request.
func fail(w http.ResponseWriter, r *http.Request, err error) { failList(w, r, err, "") }

// failList is like fail, but also sends proceed. This is the continue token for the remainder of an expired list.
func failList(w http.ResponseWriter, r *http.Request, err error, proceed string) {
	status, ok := errors.AsType[*lw.StatusError](err)
	if !ok {
		return
	}
	if seconds := int(status.RetryAfter.Seconds()); seconds > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(seconds))
	}
	send(w, r, status.Code, encodeStatus(status, proceed))
}

// send writes body as a JSON response, indented if the client prefers it.
func send(w http.ResponseWriter, r *http.Request, code int, body []byte) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	w.Write(layout(r, body))
}

// sendList writes a list, compressed if it is large and the client accepts gzip.
func sendList(w http.ResponseWriter, r *http.Request, body []byte) {
	body = layout(r, body)
	if len(body) > gzipFrom && strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		var b bytes.Buffer
		zip, _ := gzip.NewWriterLevel(&b, gzip.BestSpeed) // cannot fail, because the level is valid
		zip.Write(body)
		zip.Close()
		body = b.Bytes()
		w.Header().Set("Content-Encoding", "gzip")
		w.Header().Add("Vary", "Accept-Encoding")
	}
	w.Header().Set("Content-Type", "application/json")
	w.Write(body)
}

// layout formats the JSON of a response like kube-apiserver. The query parameter "pretty" says whether to indent it.
// Without this parameter, only browsers, curl and Wget get indented JSON. All other responses only get a final newline.
func layout(r *http.Request, body []byte) []byte {
	agent := r.UserAgent()
	pretty := strings.HasPrefix(agent, "Mozilla/5.0") || strings.HasPrefix(agent, "curl") || strings.HasPrefix(agent, "Wget")
	if values := r.URL.Query(); values.Has("pretty") {
		pretty, _ = strconv.ParseBool(values.Get("pretty"))
	}
	if !pretty {
		return append(body[:len(body):len(body)], '\n')
	}
	var b bytes.Buffer
	if err := json.Indent(&b, body, "", "  "); err != nil {
		panic("lwtest: the response is not valid JSON: " + err.Error())
	}
	return b.Bytes()
}

// maxBody is the size limit of a request body in bytes, the same as in kube-apiserver.
const maxBody = 3 << 20

func readBody(r *http.Request, media string) (fields, error) {
	if err := checkMedia(r, media); err != nil {
		return nil, err
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, maxBody+1))
	switch {
	case err != nil:
		return nil, badRequest("%v", err)
	case len(body) > maxBody:
		return nil, newError(http.StatusRequestEntityTooLarge, "RequestEntityTooLarge", "Request entity too large: limit is %d", maxBody)
	}
	f, err := decodeFields(body)
	if err != nil {
		return nil, badRequest("%v", err)
	}
	return f, nil
}

func checkMedia(r *http.Request, accepted string) error {
	given := r.Header.Get("Content-Type")
	if given == "" && accepted == "application/json" { // JSON is kube-apiserver's default
		return nil
	}
	media, _, err := mime.ParseMediaType(given)
	if err == nil && media == accepted {
		return nil
	}
	status := newError(http.StatusUnsupportedMediaType, "UnsupportedMediaType",
		"the body of the request was in an unknown format - accepted media types include: %s", accepted)
	if media == "application/vnd.kubernetes.protobuf" {
		status.Message += `. lwtest does not read protobuf: in client-go, set ContentType to "application/json" in the rest.Config`
	}
	return status
}

// mergePatch applies a JSON merge patch (RFC 7386) to decoded fields.
func mergePatch(target, patch fields) fields {
	if target == nil {
		target = fields{}
	}
	for key, value := range patch {
		switch value := value.(type) {
		case nil:
			delete(target, key)
		case fields:
			sub, _ := target[key].(fields)
			target[key] = mergePatch(sub, value)
		default:
			target[key] = value
		}
	}
	return target
}

// requestManager returns the field manager of a request: the parameter fieldManager, or else the program name in the
// User-Agent header.
func requestManager(r *http.Request) string {
	program, _, _ := strings.Cut(r.UserAgent(), "/")
	return cmp.Or(r.URL.Query().Get("fieldManager"), program, "unknown")
}

// allowOrigin adds kube-apiserver's CORS headers to the response if the request's origin is allowed. It also answers
// preflight requests from allowed origins, without requiring a token, because browsers send none with them. It reports
// whether it answered the request.
func (s *Server) allowOrigin(w http.ResponseWriter, r *http.Request) (answered bool) {
	origin := r.Header.Get("Origin")
	if !slices.Contains(s.opts.AllowedOrigins, origin) {
		return false
	}
	h := w.Header()
	h.Set("Access-Control-Allow-Origin", origin)
	h.Set("Access-Control-Allow-Methods", "POST, GET, OPTIONS, PUT, DELETE, PATCH")
	h.Set("Access-Control-Allow-Headers", "Content-Type, Content-Length, Accept-Encoding, X-CSRF-Token, Authorization, X-Requested-With, If-Modified-Since")
	h.Set("Access-Control-Expose-Headers", "Date")
	h.Set("Access-Control-Allow-Credentials", "true")
	if r.Method != http.MethodOptions {
		return false
	}
	w.WriteHeader(http.StatusNoContent)
	return true
}
