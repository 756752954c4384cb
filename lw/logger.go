package lw

import (
	"errors"
	"time"
)

// logEvery is the minimum time between two warnings with the same cause, so that a long outage does not fill the log.
const logEvery = time.Minute

// reporter logs warnings about the interruptions of one stream.
type reporter struct {
	warn       func(msg string, args ...any) // see Options.Warn
	collection string
	logged     map[cause]*logged // nil until the first warning
}

// cause groups interruptions, because each cause is logged at most once per logEvery. It ignores the error text, which
// may contain ports, times and resourceVersions that differ each time.
type cause struct {
	code   int // HTTP status code, or zero if the cause is not a *StatusError
	remedy string
}

// logged records when a warning about a cause was last logged.
type logged struct {
	at         moment
	suppressed int // number of unlogged interruptions since the last warning
}

// report logs an interruption, unless its cause was logged within logEvery.
func (r *reporter) report(b *Interruption, now moment) {
	c := cause{statusCode(b.Err), remedyOf(b.Err)}
	last := r.last(c)
	if last.at != 0 && now-last.at < logEvery {
		last.suppressed++
		return
	}
	args := []any{"cause", b.Err.Error()}
	if r.collection != "" {
		args = append(args, "collection", r.collection)
	}
	args = append(args, "next", nextOf(b), "delay", b.Delay.Round(time.Millisecond))
	if c.remedy != "" {
		args = append(args, "remedy", c.remedy)
	}
	if last.suppressed > 0 {
		args = append(args, "suppressed", last.suppressed)
	}
	last.at, last.suppressed = now, 0
	warn := r.warn
	if warn == nil {
		warn = defaultWarn
	}
	warn("listwatch: the stream was interrupted", args...)
}

// maxLogged limits the number of remembered causes, because a server can send any number of status codes.
const maxLogged = 16

// last returns the record for a cause. If there is none, last adds an empty record. If there are too many records, it
// first forgets all of them, so warnings about these causes may be repeated within logEvery.
func (r *reporter) last(c cause) *logged {
	if r.logged[c] == nil {
		if r.logged == nil || len(r.logged) == maxLogged {
			r.logged = map[cause]*logged{}
		}
		r.logged[c] = new(logged)
	}
	return r.logged[c]
}

// nextOf returns one word that describes the stream's next request in a warning.
func nextOf(b *Interruption) string {
	switch {
	case b.Final:
		return "stop"
	case b.Relist:
		return "relist"
	}
	return "watch"
}

// remedyOf returns a remedy for the cause of an interruption, or "" if the error text is enough.
func remedyOf(err error) string {
	switch {
	case errors.Is(err, ErrUnauthorized):
		return "check the credential: it is missing, unknown or expired"
	case errors.Is(err, ErrForbidden):
		return "grant the user the list and watch verbs on this resource"
	case errors.Is(err, ErrNotFound):
		return "check the group, the version and the plural: this server has no such resource"
	case statusCode(err) == 400, statusCode(err) == 422:
		return "check the selectors, or set Options.NoStreamingList if the server does not support streaming lists"
	case errors.Is(err, ErrNotList):
		return "check the URL: the response is not a list"
	case err == errNoInitialEnd:
		return "set Options.NoStreamingList: the server does not complete streaming lists"
	case err == ErrSilent:
		return "check the network; if this repeats, a proxy may be buffering the stream"
	case statusCode(err) == 502, statusCode(err) == 504: // sent by a proxy
		return "check whether the server behind the proxy is running, and the proxy's address for it"
	case faultOf(err) == connection:
		return "check the server's address and the network"
	}
	return ""
}
