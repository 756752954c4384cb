package lwtest

import (
	"encoding/json"
	"fmt"
	"iter"
	"strconv"

	"github.com/seed-6d2a410a/listwatch/internal/playback"
	"github.com/seed-6d2a410a/listwatch/internal/revlog"
)

func (p *player) PlayMade(resource string, objects iter.Seq[playback.Made]) error {
	s := (*Server)(p)
	res, ok := s.resource(resource)
	if !ok {
		return unknownResource(resource).client()
	}
	var entries []revlog.Entry[*object]
	for m := range objects {
		o := &object{namespace: m.Namespace, name: m.Name, uid: m.UID, made: m.JSON}
		entries = append(entries, revlog.Entry[*object]{Key: res.key(m.Namespace, m.Name), Value: o})
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, e := range entries {
		e.Value.version = strconv.FormatInt(s.log.Revision()+1+int64(i), 10)
	}
	if err := s.log.CreateAll(res.id(), entries); err != nil {
		return alreadyExists(res, "one of the names").client()
	}
	s.wrote()
	return nil
}

// listed returns the object encoded as a list item.
func (o *object) listed() []byte {
	if o.made != nil {
		return o.made(o.version)
	}
	return o.item
}

// metadata returns the encoded metadata.
func (o *object) metadata() []byte {
	if o.made == nil {
		return o.meta
	}
	return metadataOf(o.made(o.version))
}

// labelled returns the labels of the object.
func (o *object) labelled() map[string]string {
	if o.made == nil {
		return o.labels
	}
	var meta struct{ Labels map[string]string }
	if err := json.Unmarshal(o.metadata(), &meta); err != nil {
		panic(fmt.Sprintf("lwtest: decode the labels of a generated object: %v", err))
	}
	return meta.Labels
}
