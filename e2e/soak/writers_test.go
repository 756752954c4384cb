package soak

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"time"
)

const (
	namespace = "default"
	path      = "/api/v1/namespaces/" + namespace + "/configmaps"

	writers   = 8
	names     = 240
	perSecond = 400 // maximum number of writes per second by all writers together

	writeTimeout = 30 * time.Second
)

// state is the last known state of a ConfigMap.
type state struct {
	serial  int    // serial number of the latest known write
	version string // resourceVersion; empty if the ConfigMap does not exist
	unsure  bool   // whether the result of the latest write is unknown
}

// writer creates, updates and deletes its own ConfigMaps.
type writer struct {
	*soak
	random *rand.Rand
	states map[string]*state
}

// newWriter returns a writer for its share of the names, so that no two writers use the same ConfigMap.
func (s *soak) newWriter(number int) *writer {
	// The server failures use stream 1 of the seed, and the faults use stream 0.
	w := &writer{soak: s, random: rand.New(rand.NewPCG(s.seed, uint64(2+number))), states: map[string]*state{}}
	for i := number; i < names; i += writers {
		w.states[fmt.Sprintf("cm-%03d", i)] = &state{}
	}
	return w
}

// run makes random writes until ctx is done. The last write can still complete, because it ignores ctx.
func (w *writer) run(ctx context.Context, number int) {
	tick := time.NewTicker(writers * time.Second / perSecond)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		name := fmt.Sprintf("cm-%03d", number+writers*w.random.IntN(len(w.states)))
		w.write(context.WithoutCancel(ctx), name, w.states[name])
	}
}

// write creates, updates or deletes a ConfigMap. If s.unsure is true, it reads the ConfigMap instead.
func (w *writer) write(ctx context.Context, name string, s *state) {
	ctx, cancel := context.WithTimeout(ctx, writeTimeout)
	defer cancel()
	switch {
	case s.unsure:
		w.find(ctx, name, s)
	case s.version == "":
		w.put(ctx, http.MethodPost, "created", path, name, s)
	case w.random.IntN(4) == 0:
		code, _, err := w.cluster.Do(ctx, http.MethodDelete, path+"/"+name, "", "")
		if s.unsure = err != nil || code != http.StatusOK; !s.unsure {
			s.version = ""
			w.writes.add("deleted")
		}
	default:
		w.put(ctx, http.MethodPut, "updated", path+"/"+name, name, s)
	}
}

// put creates or updates a ConfigMap with the next serial number. The server rejects the write if the ConfigMap has
// changed.
func (w *writer) put(ctx context.Context, method, done, path, name string, s *state) {
	metadata := map[string]any{"name": name, "labels": map[string]string{"app": []string{"blue", "green"}[w.random.IntN(2)]}}
	if s.version != "" {
		metadata["resourceVersion"] = s.version
	}
	serial := s.serial + 1
	body, _ := json.Marshal(map[string]any{
		"metadata": metadata,
		"data":     map[string]string{"serial": strconv.Itoa(serial), "text": w.text()},
	})
	code, answer, err := w.cluster.Do(ctx, method, path, "application/json", string(body))
	if s.unsure = err != nil || code >= 300 || !s.adopt(answer); s.unsure {
		return
	}
	w.writes.add(done)
}

// find reads a ConfigMap from the server and updates s.
func (w *writer) find(ctx context.Context, name string, s *state) {
	code, answer, err := w.cluster.Do(ctx, http.MethodGet, path+"/"+name, "", "")
	switch {
	case err != nil:
	case code == http.StatusNotFound:
		s.version, s.unsure = "", false
	case code == http.StatusOK:
		s.unsure = !s.adopt(answer)
	}
	if !s.unsure {
		w.writes.add("unknown result, resolved later")
	}
}

// adopt updates s from a response body. It returns false if the body is incomplete.
func (s *state) adopt(answer []byte) bool {
	var object struct {
		Metadata struct{ ResourceVersion string }
		Data     struct{ Serial string }
	}
	if json.Unmarshal(answer, &object) != nil || object.Metadata.ResourceVersion == "" {
		return false
	}
	serial, err := strconv.Atoi(object.Data.Serial)
	if err != nil {
		return false
	}
	s.serial, s.version = serial, object.Metadata.ResourceVersion
	return true
}

// text returns a random string of up to 1.5 kB. Many of its characters must be escaped in JSON.
func (w *writer) text() string {
	const pieces = 7
	piece := [pieces]string{"plain ", `"`, `\`, "\n", "\u2028", "<é>", "🙂"}
	var b strings.Builder
	for range w.random.IntN(1 << (4 + w.random.IntN(5))) {
		b.WriteString(piece[w.random.IntN(pieces)])
	}
	return b.String()
}
