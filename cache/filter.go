package cache

import "runtime"

// recoverPanic calls f. If OnPanic is set, recoverPanic recovers a panic in f, and passes its value and stack to
// OnPanic if report is true.
func (r *Registration[T]) recoverPanic(report bool, f func()) {
	if r.opts.OnPanic != nil {
		defer func() {
			if value := recover(); value != nil && report {
				stack := make([]byte, 64<<10)
				r.opts.OnPanic(value, stack[:runtime.Stack(stack, false)])
			}
		}()
	}
	f()
}

// filter returns the change that the handler receives. It returns false if the filter drops the change.
func (r *Registration[T]) filter(change queuedChange[T]) (Change[T], bool) {
	if r.opts.Filter == nil {
		return change.Change, true
	}
	was := change.Type != Added && r.matches(change.stored, false)
	is := change.Type != Deleted && r.matches(change.New, true)
	switch {
	case is && !was:
		return Change[T]{Type: Added, New: change.New, Initial: change.Initial}, true
	case was && !is:
		return Change[T]{Type: Deleted, Old: change.Old, FinalStateUnknown: change.FinalStateUnknown}, true
	}
	return change.Change, is
}

// matches reports whether the filter selects an object. If the filter panics, matches returns true. It calls
// OnPanic only if report is true, so that each object causes only one report.
func (r *Registration[T]) matches(object T, report bool) (ok bool) {
	ok = true // the result if the filter panics
	r.recoverPanic(report, func() { ok = r.opts.Filter(object) })
	return ok
}
