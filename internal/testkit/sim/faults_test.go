package sim

import (
	"errors"
	"strconv"
	"time"
)

var (
	errReset   = errors.New("connection reset by peer")
	errNoRoute = errors.New("connection refused")
)

// badLuck may inject a fault that keeps a request from reaching the server. It returns the fault's error, or nil if
// there is no fault.
func (s *sim) badLuck(c *conn) error {
	switch now := time.Now(); {
	case now.Before(s.weather.storm):
		return s.reject(s.code, s.after)
	case now.Before(s.weather.gateway) && c.watch:
		return s.reject([]int{502, 503, 504}[s.IntN(3)], "")
	case s.strikes(noRoute, 3*s.trouble):
		return errNoRoute
	case s.strikes(denied, 5*s.trouble):
		return &rejection{code: []int{401, 403, 404}[s.IntN(3)], body: "404 page not found\n"}
	case s.strikes(gone, 5*s.trouble):
		return errorResponse(410, "Gone", "gone", "")
	}
	return nil
}

// spoil chooses a random fault for a response, or replaces its body.
func (s *sim) spoil(c *conn) {
	switch {
	case s.strikes(html, 5*s.trouble):
		c.pending, c.ended, c.stream = "<!DOCTYPE html><html><body>Log in</body></html>", true, nil
	case s.strikes(instantEnd, 2*s.trouble):
		c.pending, c.ended, c.stream = "", true, nil
	case time.Now().Before(s.curt) && c.stream != nil && !c.streams && !c.stream.final:
		c.pending, c.ended, _ = c.stream.pump(time.Now())
		if c.stream.sent <= c.replica.cached && !c.ended && !c.stream.unversioned {
			c.pending += bookmark(c.replica.cached, "")
		}
		c.ended, c.stream = true, nil
	case time.Now().Before(s.weather.eager) && c.stream != nil && !c.streams && !c.stream.final:
		s.hurry(c)
	case c.watch && s.strikes(mute, 4*s.trouble):
		c.silent = true
	case c.isList() && s.strikes(foreignList, 2*s.trouble):
		s.mislead(c)
	case s.oneIn(s.trouble):
		if f, ok := s.among(reset, instantEnd); ok {
			c.fault, c.at = f, s.IntN(max(len(c.pending), 1+s.IntN(3000)))
		}
	}
}

// hurry advances the revision if possible. It then sends the watch's latest changes, or a bookmark if there are
// none, and closes the watch.
func (s *sim) hurry(c *conn) {
	if s.oneIn(2) {
		s.write()
	} else if !s.check.known(s.server.log.Revision() + 1) {
		s.passRevision()
	}
	s.server.catchUp(c.replica)
	c.pending, c.ended, _ = c.stream.pump(time.Now())
	if c.stream.sent <= c.replica.cached && !c.ended && !c.stream.unversioned {
		c.pending += bookmark(c.replica.cached, "")
	}
	c.ended, c.stream = true, nil
}

// fate returns the trace's description of the fault that was chosen for the response. It returns "" if there is none.
func (c *conn) fate() string {
	if c.at < 0 {
		return ""
	}
	return ", fault at " + strconv.Itoa(c.at) + ": " + c.fault.String()
}

// strike applies the chosen fault to the response.
func (c *conn) strike(now time.Time) {
	c.at = -1
	c.trace("! %v after %d bytes", c.fault, c.sent)
	switch c.fault {
	case reset:
		c.broken = errReset
	case halfOpen:
		c.silent = true
	case stall:
		c.until = now.Add(c.upTo(4 * time.Minute))
	case throttle:
		c.throttled = c.IntN(200)
	case garbage:
		c.pending = "\x01" + c.pending
	case cutShort:
		c.pending, c.ended, c.stream = "", true, nil
	}
}

// cut ends a connection to an API server that has crashed. Pending bytes are lost. The connection breaks, closes
// cleanly or becomes half-open.
func (c *conn) cut() {
	if !c.open {
		return
	}
	c.pending, c.ended, c.stream = "", true, nil
	switch f, ok := c.among(reset, stall); {
	case ok && f == halfOpen:
		c.silent = true
	case c.oneIn(3):
	default:
		c.broken = errReset
	}
}
