package lw

import (
	"errors"
	"time"
)

// Logger receives warnings. *slog.Logger implements it. args are keys and values in turn, with types that package log/slog
// accepts.
type Logger interface {
	Warn(msg string, args ...any)
}

// logEvery is how often a stream logs the same cause.
const logEvery = time.Minute

// reporter logs the interruptions of one stream.
type reporter struct {
	logger     Logger // nil: the default logger
	collection string
	logged     []logged
}

// cause identifies interruptions that are logged once per logEvery. Error texts are not compared, because they may contain
// ports, times and resourceVersions.
type cause struct {
	code   int // the HTTP status code, or zero
	remedy string
}

// logged is a cause that was logged.
type logged struct {
	cause
	at         moment
	suppressed int // interruptions since then
}

// newReporter returns a reporter for a source. A source with a String method names its collection.
func newReporter(logger Logger, source any) reporter {
	r := reporter{logger: logger}
	if named, ok := source.(interface{ String() string }); ok {
		r.collection = named.String()
	}
	return r
}

// report logs an interruption, unless its cause was logged less than logEvery ago.
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
	logger := r.logger
	if logger == nil {
		logger = defaultLogger()
	}
	logger.Warn("listwatch: the stream was interrupted", args...)
}

// maxLogged bounds the causes that a reporter remembers, because a server chooses the status codes.
const maxLogged = 16

// last returns the record of a cause. If there is none, it adds one. If there are too many, it forgets the oldest.
func (r *reporter) last(c cause) *logged {
	for i := range r.logged {
		if r.logged[i].cause == c {
			return &r.logged[i]
		}
	}
	if len(r.logged) == maxLogged {
		r.logged = r.logged[1:]
	}
	r.logged = append(r.logged, logged{cause: c})
	return &r.logged[len(r.logged)-1]
}

// nextOf names the request that follows an interruption.
func nextOf(b *Interruption) string {
	switch {
	case b.Final:
		return "stop"
	case b.Relist:
		return "relist"
	}
	return "watch"
}

// remedyOf says how to remove the cause of an interruption. It returns "" if the error text is enough.
func remedyOf(err error) string {
	switch {
	case errors.Is(err, ErrUnauthorized):
		return "check the credential: it is missing, unknown or expired"
	case errors.Is(err, ErrForbidden):
		return "grant the user the verbs list and watch on this resource"
	case errors.Is(err, ErrNotFound):
		return "check the group, the version and the plural: this server has no such resource"
	case statusCode(err) == 400, statusCode(err) == 422:
		return "check the selectors; set Options.NoStreamingList if the server does not support streaming lists"
	case errors.Is(err, ErrNotList):
		return "check the URL: the response is not a list"
	case err == ErrNoInitialEnd:
		return "set Options.NoStreamingList: the server does not complete streaming lists"
	case err == ErrSilent:
		return "check the network: if this repeats, a proxy holds back the stream"
	case faultOf(err) == connection:
		return "check the server's address and the network"
	}
	return ""
}
