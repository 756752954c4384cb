package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/seed-6d2a410a/listwatch/cmd/lwcat/internal/recording"
	"github.com/seed-6d2a410a/listwatch/lw"
	lwhttp "github.com/seed-6d2a410a/listwatch/transport/http"
	"github.com/spf13/pflag"
)

// recordOptions select the recording to write or to replay.
type recordOptions struct {
	record string
	replay string
	speed  float64 // speed of the replay; 0 means no delays
	limits *rangeOptions
}

func (o *recordOptions) flags(set *pflag.FlagSet) {
	set.StringVar(&o.record, "record", "", "write the server's responses, including all objects, to `FILE` for --replay")
	set.StringVar(&o.replay, "replay", "", "replay `FILE[@SPEED]` instead of connecting to a server; for example run@10, run@0.5, or run@max without delays")
}

func (o *recordOptions) validate() (err error) {
	switch {
	case o.record == "-":
		return errors.New("--record needs a file, because lwcat writes the events to standard output")
	case o.record != "" && o.replay != "":
		return errors.New("--record and --replay cannot be combined")
	case o.limits.resume != "" && (o.record != "" || o.replay != ""):
		return errors.New("--resume omits objects that a recording must contain: do not combine it with --record or --replay")
	case o.limits.from != "" && o.replay != "":
		return errors.New("--replay starts where the recording starts: omit --from")
	case o.replay != "":
		o.replay, o.speed, err = cutSpeed(o.replay)
	}
	return err
}

// cutSpeed splits FILE[@SPEED]. It returns the whole argument as the file if a file of that name exists.
func cutSpeed(text string) (file string, speed float64, err error) {
	at := strings.LastIndexByte(text, '@')
	if _, err := os.Stat(text); err == nil || at < 0 {
		return text, 1, nil
	}
	if text[at+1:] == "max" {
		return text[:at], 0, nil
	}
	speed, err = strconv.ParseFloat(text[at+1:], 64)
	if err != nil || !(speed >= 0.001 && speed <= 1e6) {
		return "", 0, fmt.Errorf("invalid speed %q: expected a number from 0.001 to 1000000, or max", text[at+1:])
	}
	return text[:at], speed, nil
}

// source supplies collections from a server or from a recording.
type source struct {
	serverURL   string // URL of the server
	namespace   string // default namespace
	description string // description of the source for messages

	connection *connection  // nil for a recording
	transport  lw.Transport // transport for discovery
	close      func() error
	writer     *recording.Writer    // set with --record
	recorded   *recording.Recording // set with --replay
	player     *recording.Player
}

// open connects to the server or opens the recording. It calls fail if --record later fails to write.
func (c *config) open(ctx context.Context, status *status, fail func(error)) (*source, error) {
	if c.recording.replay != "" {
		recorded, err := recording.Open(c.recording.replay)
		if err != nil {
			return nil, err
		}
		if len(recorded.Collections) > 0 {
			c.limits.from = recorded.Collections[0].From
		}
		player := recorded.Play(c.recording.speed)
		return &source{description: "recording " + c.recording.replay, namespace: "default", transport: player.Discovery(), close: recorded.Close, recorded: recorded, player: player}, nil
	}
	config, err := c.server.load(ctx, status.out)
	if err != nil {
		return nil, err
	}
	http, err := lwhttp.New(config.Server, config.HTTP)
	if err != nil {
		return nil, err
	}
	s := &source{connection: &connection{config, &c.server}, serverURL: config.Server, namespace: config.Namespace, transport: c.server.newTransport(http), close: func() error { http.Close(); return nil }}
	s.description = fmt.Sprintf("server %s, context %q, user %q", config.Server, config.Context, config.User)
	if c.recording.record == "" {
		return s, nil
	}
	s.writer, err = recording.Create(c.recording.record, func(err error) { fail(recordError(err)) })
	if err != nil {
		http.Close()
		return nil, recordError(err)
	}
	s.transport = s.writer.Transport(s.transport)
	s.close = func() error { http.Close(); return recordError(s.writer.Close()) }
	return s, nil
}

func recordError(err error) error {
	if err == nil {
		return nil
	}
	hint := ""
	if errors.Is(err, syscall.ENOSPC) {
		hint = "the disk is full"
	}
	return withHint(fmt.Errorf("--record: %v", err), hint) // %v hides EPIPE, because exitCode would interpret it as a closed standard output
}

// resources returns the selected collections. If the command line names none, a replay selects all recorded
// collections.
func (s *source) resources(ctx context.Context, c *config, status *status) (resources []lw.Resource, err error) {
	o := &c.resources
	if s.recorded != nil && len(o.names) == 0 {
		for _, followed := range s.recorded.Collections {
			resources = append(resources, followed.Resource)
			o.labels, o.fields = followed.Labels, followed.Fields // all collections of a run have the same selectors
		}
		if len(resources) == 0 {
			return nil, errors.Join(errors.New("the recording does not list its collections: specify one, for example /api/v1/pods"), s.recorded.Broken)
		}
		return resources, nil
	}
	if resources, err = s.resolve(ctx, o, status); err != nil {
		return nil, err
	}
	for _, r := range resources {
		if s.writer != nil {
			s.writer.Follow(recording.Collection{Resource: r, Labels: o.labels, Fields: o.fields, From: c.limits.from})
		}
	}
	return resources, nil
}

// newCollection returns the transport and the clock of one collection. A nil clock means the system clock.
func (s *source) newCollection() (transport lw.Transport, now func() time.Time, end func()) {
	if s.player == nil {
		return s.transport, nil, func() {}
	}
	playback := s.player.Collection()
	return playback, playback.Now, playback.Close
}

// reportEnd logs that a replay is complete. It returns an error if the recording is damaged.
func (s *source) reportEnd(status *status) error {
	status.logf("replayed a recording of %v", s.recorded.Length.Round(time.Millisecond))
	return s.recorded.Broken
}
