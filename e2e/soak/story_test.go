package soak

import (
	"fmt"
	"strings"
	"time"

	"github.com/seed-6d2a410a/listwatch/lw"
)

const remembered = 40

// story is the end of what a follower saw, for the report of a failure: the last events about objects, and the last of all
// others, which those would push out soon.
type story struct{ objects, others []string }

func (s *story) add(event lw.Event[*lw.Object]) {
	text := fmt.Sprintf("%s %v, version %s", time.Now().Format("15:04:05.000"), event.Type, event.ResourceVersion)
	switch {
	case event.Object != nil:
		o := event.Object
		s.objects = last(s.objects, fmt.Sprintf("%s: %s, version %s, number %s", text, o.GetName(), o.GetResourceVersion(), o.Get("data.serial").String()))
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
	return "of objects:\n" + strings.Join(s.objects, "\n") + "\nbesides:\n" + strings.Join(s.others, "\n")
}
