package soak

import (
	"fmt"
	"strings"
	"time"

	"github.com/seed-6d2a410a/listwatch/lw"
)

// remembered is how many object events and how many other events a story keeps.
const remembered = 40

// story contains the latest events of a follower, for failure messages. It keeps events about objects separately,
// because they are so frequent that they would displace all other events.
type story struct{ objects, others []string }

func (s *story) add(event lw.Event[*lw.Object]) {
	text := fmt.Sprintf("%s %v, resourceVersion %s", time.Now().Format("15:04:05.000"), event.Type, event.ResourceVersion)
	switch {
	case event.Object != nil:
		o := event.Object
		s.objects = last(s.objects, fmt.Sprintf("%s: %s, resourceVersion %s, serial number %s", text, o.GetName(), o.GetResourceVersion(), o.Get("data.serial").String()))
		return
	case event.Interruption != nil:
		text += fmt.Sprintf(": %v; delay %v, relist %v", event.Interruption.Err, event.Interruption.Delay, event.Interruption.Relist)
	}
	s.others = last(s.others, text)
}

func last(texts []string, text string) []string {
	if len(texts) == remembered {
		texts = texts[:copy(texts, texts[1:])]
	}
	return append(texts, text)
}

func (s *story) String() string {
	return "object events:\n" + strings.Join(s.objects, "\n") + "\nother events:\n" + strings.Join(s.others, "\n")
}
