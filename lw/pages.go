package lw

import "github.com/seed-6d2a410a/listwatch/internal/invalid"

// completeList records that a list is complete. If the list has no resourceVersion, a watch after it cannot resume.
func (m *machine) completeList(version string) {
	if version == "0" {
		version = ""
	}
	m.version, m.short, m.suspect = version, 0, 0
}

// page handles a complete page. It continues with the next page, or completes the list or the check of the
// resourceVersion.
func (m *machine) page(in *input) (output, *Interruption) {
	s, ok := m.state.(*listing)
	version := in.meta.ResourceVersion
	switch {
	case !ok && versionRegressed(m.version, version):
		return hidden, m.end(invalid.ErrVersionRegressed, in)
	case !ok && in.refuted:
		return hidden, m.end(invalid.ErrReplaced, in)
	case !ok:
		next := &watching{lastReceived: in.now}
		if versionRegressed(in.first, m.version) {
			next.owed = in.first
		}
		m.state = next
		return hidden, nil
	case s.pages == 0:
		s.version = version
	case s.version != version:
		return hidden, m.end(invalid.ErrInconsistentPages, in)
	}
	m.chargeList(&s.charged, in.objects)
	stuck := s.repeatsToken(in) || in.objects == 0 && in.meta.Continue != "" && m.retryPolicy.budget.wait(in.now) > 0
	if s.free && (stuck || in.objects == 0) {
		m.retryPolicy.budget.spend(in.now) // a page without new objects is charged to the budget
	}
	if stuck {
		return hidden, m.end(invalid.ErrNoProgress, in)
	}
	s.pages++
	if in.meta.Continue != "" {
		s.token, s.free = in.meta.Continue, in.objects > 0
		if s.from == "0" {
			m.server.pages.Store(true)
		}
		return hidden, nil
	}
	if s.from != "" && versionRegressed(m.version, version) {
		return hidden, m.end(invalid.ErrVersionRegressed, in)
	}
	m.completeList(version)
	m.state = &watching{lastReceived: in.now}
	return complete, nil
}

// chargeList charges objects of the current list to the limit on lists. charged counts the objects of this list that are
// already charged.
func (m *machine) chargeList(charged *int, objects int) {
	objects = min(objects, m.retryPolicy.lists.large-*charged)
	*charged += objects
	m.retryPolicy.lists.add(m.asked, objects)
}

// repeatsToken reports whether a page repeats the previous continue token, or starts with the same object as an earlier
// page.
func (s *listing) repeatsToken(in *input) bool {
	if in.meta.Continue != "" && in.meta.Continue == s.token {
		return true
	}
	if in.objects == 0 || in.meta.Continue == "" && s.pages == 0 {
		return false
	}
	if _, seen := s.starts[in.start]; seen {
		return true
	}
	if s.starts == nil {
		s.starts = map[Key]struct{}{}
	}
	s.starts[in.start] = struct{}{}
	return false
}
