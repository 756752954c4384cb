package sim

import (
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/seed-6d2a410a/listwatch/internal/hostile"
	"github.com/seed-6d2a410a/listwatch/internal/revlog"
)

func errorResponse(code int, reason, message, more string) error {
	body := hostile.Status(code, reason, message, more)
	return &rejection{code: code, body: body, wait: time.Duration(max(0, numberAfter(body, `"retryAfterSeconds":`))) * time.Second}
}

// list returns a list's body and revision. If late is set, the server waits three seconds before it responds.
func (s *server) list(q query, r *replica) (body string, revision int64, late bool, err error) {
	if q.token != "" {
		body, revision, err = s.nextPage(q)
		return body, revision, false, err
	}
	limit := q.limit
	switch q.version {
	case "": // consistent read
		revision = s.log.Revision()
	case "0": // any cached state is allowed
		if revision = r.cached; !s.zeroPages {
			limit = 0
		}
	default:
		asked, err := strconv.ParseInt(q.version, 10, 64)
		if err != nil {
			return "", 0, false, errorResponse(400, "BadRequest", "invalid resource version", "")
		}
		if asked > s.log.Revision() {
			return "", 0, true, errorResponse(504, "Timeout", "Timeout: Too large resource version", hostile.TooLarge)
		}
		if asked > r.cached {
			s.catchUp(r)
		}
		revision = r.cached
	}
	return s.page(revision, "", limit), revision, false, nil
}

func (s *server) nextPage(q query) (string, int64, error) {
	version, start, _ := strings.Cut(q.token, ":")
	start, turns, _ := strings.Cut(start, "#")
	turn, _ := strconv.Atoi(turns)
	revision, err := strconv.ParseInt(version, 10, 64)
	if err != nil || q.version != "" {
		return "", 0, errorResponse(400, "BadRequest", "specifying resource version is not allowed when using continue", "")
	}
	switch _, err = s.log.At(watched, "", revision); {
	case errors.Is(err, revlog.ErrCompacted):
		return "", 0, errorResponse(410, "Expired", "The provided continue parameter is too old", "")
	case err != nil:
		return "", 0, errorResponse(500, "InternalError", err.Error(), "")
	}
	body, revision := s.circle(revision, start, turn, q.limit)
	return body, revision, nil
}

// page returns the list at the given revision, with at most limit objects whose keys follow lastKey. A limit of 0 means
// no limit.
func (s *server) page(revision int64, lastKey string, limit int) string {
	return s.render(revision, lastKey, limit, "")
}

// render is like page, but uses next as the continue token if next is not empty.
func (s *server) render(revision int64, lastKey string, limit int, next string) string {
	entries, err := s.log.At(watched, "", revision)
	if err != nil {
		panic(err) // cannot happen, because the server compacts only revisions that all caches have passed
	}
	for len(entries) > 0 && entries[0].Key <= lastKey {
		entries = entries[1:]
	}
	if limit > 0 && len(entries) > limit {
		if entries = entries[:limit]; next == "" {
			next = token(revision, entries[limit-1].Key, 0)
		}
	}
	s.keys = s.keys[:0]
	for _, e := range entries {
		s.keys = append(s.keys, e.Key)
	}
	text := listText(entries, revision, next, s.metadataLast)
	if s.habit == unversionedLists {
		text = unversioned(text)
	}
	return text
}
