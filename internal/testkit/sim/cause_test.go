package sim

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"github.com/seed-6d2a410a/listwatch/lw"
)

// rejection is an error response or an ERROR event from the server.
type rejection struct {
	code   int
	header string // value of the Retry-After header
	body   string
	wait   time.Duration // delay that the server requested
}

func (r *rejection) Error() string { return strconv.Itoa(r.code) + " " + r.body }

// statusError converts the response to the error that a transport returns.
func (r *rejection) statusError() error {
	return lw.ReadStatusError(r.code, r.header, strings.NewReader(r.body), nil)
}

func (r *rejection) tooLarge() bool {
	return r != nil && strings.Contains(r.body, "ResourceVersionTooLarge")
}

// final reports whether the simulation's StopOn option must stop the engine after this rejection.
func (r *rejection) final() bool {
	return r != nil && (r.code == 401 || r.code == 403 || r.code == 404)
}

// cause is why a request ended. The simulation determines it without looking at the engine's errors.
type cause int

const (
	byEngine  cause = iota // the engine closed an unfinished response
	rejected               // the server sent an error, which conn.rejection contains
	connected              // the connection failed, or a proxy responded
	silent                 // the engine canceled the request because it received no bytes for too long
	cleanEnd               // the server closed the response after a complete event or list
	garbled                // the response contains a byte that is not valid JSON
)

var causeNames = [...]string{"closed by the engine", "rejected", "connection fault", "idle", "clean end", "garbled"}

func (c cause) String() string { return causeNames[c] }

// ends records why the response ended, unless a reason is already recorded.
func (c *conn) ends(why cause) {
	if c.cause == byEngine {
		c.cause = why
	}
}

// inspect parses text, which the engine has read. It records invalid bytes and passes complete watch events to c.event.
func (c *conn) inspect(text string) {
	if c.cause == garbled {
		return
	}
	text, _, garbage := strings.Cut(text, "\x01")
	if garbage {
		defer c.ends(garbled)
	}
	if c.line += text; strings.HasPrefix(c.line, "<") {
		c.ends(connected)
	}
	for c.watch {
		line, rest, complete := strings.Cut(c.line, "\n")
		if !complete && !(strings.HasSuffix(line, "}") && json.Valid([]byte(line))) {
			return
		}
		c.line = rest
		c.event(line)
	}
}

// event inspects a watch event. It records ERROR events, misplaced initial-events-end bookmarks and decreasing
// resourceVersions.
func (c *conn) event(line string) {
	if line == "" { // the event's trailing newline arrived in a later read
		return
	}
	if strings.HasPrefix(line, `{"type":"ERROR"`) && c.cause == byEngine {
		c.ends(rejected)
		c.rejection = &rejection{code: int(numberAfter(line, `"code":`)), body: line}
		c.rejection.wait = time.Duration(max(0, numberAfter(line, `"retryAfterSeconds":`))) * time.Second
		return
	}
	version := numberAfter(line, `"resourceVersion":"`)
	if version < 0 {
		return
	}
	event := !strings.HasPrefix(line, `{"type":"BOOKMARK"`)
	c.early = c.early || c.streams && c.marked && (version < c.highest || version == c.highest && event)
	if c.marked = c.marked || strings.Contains(line, `-end":"true"`); c.streams && !c.marked {
		return // the initial objects of a streaming list are ordered by key, not by resourceVersion
	}
	c.regressed = c.regressed || version < c.highest
	c.highest = max(c.highest, version)
}

// older reports whether the response was a complete list whose resourceVersion is lower than the claimed one.
func (c *conn) older(claimed int64) bool {
	return !c.watch && c.token == "" && c.cause == cleanEnd && !c.foreign && c.revision < claimed
}

// atEnd records that the response body has ended. A complete list may lack its final newline.
func (c *conn) atEnd() {
	text := strings.TrimSpace(c.line)
	switch complete := text == "" || !c.watch && json.Valid([]byte(text)); {
	case complete && (c.watch || text != ""):
		if c.ends(cleanEnd); c.isList() && !c.foreign {
			c.check.paged(c)
		} else if c.isCheck() && !c.foreign {
			c.check.checked(c)
		}
	default:
		c.ends(connected)
	}
}

// numberAfter returns the number after the last occurrence of prefix in text, or -1 if there is none.
func numberAfter(text, prefix string) int64 {
	i := strings.LastIndex(text, prefix)
	if i < 0 {
		return -1
	}
	text = text[i+len(prefix):]
	end := 0
	for end < len(text) && text[end] >= '0' && text[end] <= '9' {
		end++
	}
	return number(text[:end])
}
