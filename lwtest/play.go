package lwtest

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/seed-6d2a410a/listwatch/lw"
)

// Play repeats the changes in a recording that lwcat wrote with --record or -o jsonl. It writes the objects as fast as
// it reads them, and returns at the end of the recording. To check a client between two events, play the recording in
// parts. At each recorded interruption, Play drops all connections. If lwcat relisted after an interruption, Play
// compacts the history before it drops the connections, so that clients must relist, too.
//
// The objects get new UIDs and resourceVersions. Play adds resources that the server does not serve yet. An error
// contains the number of the event, which starts at 1.
func (s *Server) Play(recording io.Reader) error {
	lines := json.NewDecoder(recording)
	for number := 1; ; number++ {
		var event struct {
			Type, Resource string
			Relist         bool
			Object         json.RawMessage
		}
		err := lines.Decode(&event)
		if err == io.EOF {
			return nil
		}
		switch {
		case err != nil:
		case event.Type == "INTERRUPTED":
			if event.Relist {
				s.Compact()
			}
			s.DropConnections()
		case event.Object != nil:
			err = s.play(event.Type, event.Resource, event.Object)
		}
		if err != nil {
			return fmt.Errorf("play event %d of the recording: %w", number, err)
		}
	}
}

func (s *Server) play(eventType, name string, object []byte) error {
	f, err := decodeFields(object)
	if err != nil {
		return err
	}
	meta, err := metadata(f)
	if err != nil {
		return err
	}
	group, version, found := strings.Cut(text(f, "apiVersion"), "/")
	if !found {
		group, version = "", group
	}
	plural := name[strings.LastIndexByte(name, '/')+1:] // if lwcat watched a raw path, name is the whole path
	plural, _, _ = strings.Cut(plural, ".")
	namespace := text(meta, "namespace")
	r := &resource{group: group, version: version, kind: text(f, "kind"), plural: plural, namespaced: namespace != ""}
	if eventType == "DELETED" {
		err := s.Delete(r.id(), namespace, text(meta, "name"))
		if status, ok := errors.AsType[*lw.StatusError](err); ok && status.Reason == "NotFound" {
			return nil // the object does not exist, because the recorded run did not list it
		}
		return err
	}
	if _, err := s.resource(r.id()); err != nil {
		s.mu.Lock()
		s.define(r)
		s.mu.Unlock()
	}
	delete(meta, "uid")
	delete(meta, "resourceVersion")
	_, err = s.Put(r.id(), f)
	return err
}
