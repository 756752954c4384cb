package cache

import "github.com/seed-6d2a410a/listwatch/lw"

// DecodeErrors returns what the codec could not decode, in no particular order: for each key the last try. What the store
// holds under such a key is older than that, or nothing. An object is no longer among them when a later state of it was
// decoded, or it was deleted.
func (s *Store[T]) DecodeErrors() []*lw.DecodeError {
	s.mu.RLock()
	defer s.mu.RUnlock()
	all := make([]*lw.DecodeError, 0, len(s.decodeErrors))
	for _, err := range s.decodeErrors {
		all = append(all, err)
	}
	return all
}

// keep notes that an object could not be decoded: what is known of it stays, unless it was deleted.
func (s *Store[T]) keep(err *lw.DecodeError) {
	hash := s.hash(err.Key)
	slot, old, ok := s.find(&s.state, hash, err.Key)
	switch {
	case err.Type != lw.Deleted:
		s.changed() // what a snapshot may be used for
		note(&s.decodeErrors, err)
		if s.listing {
			note(&s.missed, err)
		}
		if ok {
			s.mark(slot)
		}
		return
	case ok:
		s.take(slot, hash, old)
		s.changes = append(s.changes, Change[T]{Type: Deleted, Old: old})
	}
	s.decoded(err.Key)
}

func note(errs *map[lw.Key]*lw.DecodeError, err *lw.DecodeError) {
	if *errs == nil {
		*errs = make(map[lw.Key]*lw.DecodeError)
	}
	(*errs)[err.Key] = err
}

// decoded forgets what could not be decoded under a key.
func (s *Store[T]) decoded(key lw.Key) {
	delete(s.decodeErrors, key)
	delete(s.missed, key)
}
