package cache

import "github.com/seed-6d2a410a/listwatch/lw"

// DecodeErrors returns the last error of each object that the codec could not decode, in no particular order. The store
// keeps the previous state of such an object, if any. The error is cleared when a later state is decoded or the object
// is deleted.
func (s *Store[T]) DecodeErrors() []*lw.DecodeError {
	s.mu.RLock()
	defer s.mu.RUnlock()
	all := make([]*lw.DecodeError, 0, len(s.decodeErrors))
	for _, err := range s.decodeErrors {
		all = append(all, err)
	}
	return all
}

// applyDecodeError records an object that could not be decoded. It keeps the stored object unless the event is a
// deletion.
func (s *Store[T]) applyDecodeError(err *lw.DecodeError) {
	hash := s.hash(err.Key)
	slot, old, ok := s.find(&s.state, hash, err.Key)
	switch {
	case err.Type != lw.Deleted:
		s.invalidate() // the next snapshot must be marked as incomplete
		setDecodeError(&s.decodeErrors, err)
		if s.listing {
			setDecodeError(&s.listErrors, err)
		}
		if ok {
			s.setListed(slot)
		}
		return
	case ok:
		s.clearSlot(slot, hash, old)
		s.changes = append(s.changes, Change[T]{Type: Deleted, Old: old})
	}
	s.clearDecodeError(err.Key)
}

func setDecodeError(errs *map[lw.Key]*lw.DecodeError, err *lw.DecodeError) {
	if *errs == nil {
		*errs = make(map[lw.Key]*lw.DecodeError)
	}
	(*errs)[err.Key] = err
}

// clearDecodeError deletes the decode errors of the object with this key.
func (s *Store[T]) clearDecodeError(key lw.Key) {
	delete(s.decodeErrors, key)
	delete(s.listErrors, key)
}
