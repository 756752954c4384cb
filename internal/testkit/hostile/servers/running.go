package servers

import (
	"errors"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/seed-6d2a410a/listwatch/lw"
)

// Server describes a hostile server. Start runs it, and [Running.Behave] ends its misbehavior.
type Server struct {
	Name, Does string
	Lies       bool    // sends wrong data, which clients believe until the next list
	Restart    bool    // resourceVersions restart, so recovery may take 27 minutes instead of 15
	Lists      bool    // the client must request ordinary lists in small pages
	Causes     []error // errors that a client must report

	server server
}

// All returns all servers that need no raw access to connections. The first server is always correct.
func All() []Server {
	var all []Server
	for _, s := range slices.Concat(correctServers(), wrongWatches(), shortWatches(), hostileErrorResponses(), wrongLists(), malformedLists(), wrongStreamingLists(), unusualServers()) {
		all = append(all, Server{s.name, s.does, s.lies, s.restart, s.opts.NoStreamingList, s.causes, s})
	}
	return all
}

// Running is a running server with a collection of ConfigMaps. It implements [http.RoundTripper].
type Running struct {
	memory *memory
	lists  bool
}

// Start returns a running copy of s with its own collection. seed determines the random changes of the collection.
func (s *Server) Start(seed uint64) *Running {
	return &Running{&memory{world: newWorld(seed, s.server.naming, s.server.version), serve: s.server.serve}, s.Lists}
}

// RoundTrip implements [http.RoundTripper].
func (r *Running) RoundTrip(request *http.Request) (*http.Response, error) {
	query := request.URL.Query()
	if r.lists && query.Get("sendInitialEvents") != "" {
		return respond(request, http.StatusUnprocessableEntity, "", io.NopCloser(strings.NewReader(failure(422, "Invalid", "no streaming lists")))), nil
	}
	if limit, err := strconv.Atoi(query.Get("limit")); r.lists && err == nil {
		query.Set("limit", strconv.Itoa(min(limit, ordinary.PageSize)))
	}
	body, err := r.memory.Open(request.Context(), &lw.Request{Path: request.URL.Path, Query: query.Encode()})
	if rejected, ok := errors.AsType[*rejection](err); ok {
		return respond(request, rejected.code, rejected.retryAfter, io.NopCloser(strings.NewReader(rejected.text))), nil
	}
	if err != nil {
		return nil, err
	}
	return respond(request, http.StatusOK, "", body), nil
}

func respond(request *http.Request, code int, retryAfter string, body io.ReadCloser) *http.Response {
	header := http.Header{"Content-Type": {"application/json"}}
	if retryAfter != "" {
		header.Set("Retry-After", retryAfter)
	}
	return &http.Response{StatusCode: code, Header: header, Body: body, Request: request}
}

// Step creates, modifies or deletes a random object.
func (r *Running) Step() { r.memory.step() }

// Pause returns a random delay until the next Step.
func (r *Running) Pause() time.Duration { return r.memory.pause() }

// Behave ends the misbehavior of the server. If relist is set, watches return 410 until the next list.
func (r *Running) Behave(relist bool) {
	r.memory.mustList.Store(relist)
	r.memory.honest.Store(true)
}

// Open returns the number of requests in progress.
func (r *Running) Open() int { return int(r.memory.open.Load()) }

// UIDs returns the UID of each ConfigMap, by name.
func (r *Running) UIDs() map[string]string {
	uids := map[string]string{}
	for name := range r.memory.latest() {
		uids[name] = r.memory.uid(name)
	}
	return uids
}

// Values returns the value of data.v of each ConfigMap, by name.
func (r *Running) Values() map[string]string {
	values := map[string]string{}
	for name, revision := range maps.All(r.memory.latest()) {
		values[name] = strconv.Itoa(revision)
	}
	return values
}
