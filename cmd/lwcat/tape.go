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
	"github.com/spf13/pflag"
)

// tape is what is recorded, and what is replayed.
type tape struct {
	record    string
	overwrite bool
	replay    string
	speed     float64 // 0: as fast as can be
	when      *when
}

func (t *tape) flags(set *pflag.FlagSet) {
	set.StringVar(&t.record, "record", "", "write what the server sends to `FILE`, objects and all, for --replay and lwcat serve")
	set.BoolVar(&t.overwrite, "overwrite", false, "let --record replace a file")
	set.StringVar(&t.replay, "replay", "", "play `FILE[@SPEED]` in place of a server; as run@10, run@0.5, or run@max, which waits for nothing")
}

func (t *tape) validate() (err error) {
	switch {
	case t.record == "-":
		return errors.New("--record needs a file: standard output has the events")
	case t.record != "" && t.replay != "":
		return errors.New("--record and --replay exclude each other")
	case t.overwrite && t.record == "":
		return errors.New("--overwrite is for --record")
	case t.when.resume != "" && (t.record != "" || t.replay != ""):
		return errors.New("--resume leaves out what the run before has printed, which a recording has to tell: use one of them")
	case t.when.from != "" && t.replay != "":
		return errors.New("--replay begins where the recording does, and so without --from")
	case t.replay != "":
		t.replay, t.speed, err = cutSpeed(t.replay)
	}
	return err
}

// cutSpeed takes FILE[@SPEED] apart. A file whose own name ends so is taken as it is.
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
		return "", 0, fmt.Errorf("no speed %q: it is a number from 0.001 to 1000000, or max", text[at+1:])
	}
	return text[:at], speed, nil
}

// source is where collections come from: a server, or a recording.
type source struct {
	server    string // its URL
	namespace string // where none is named
	about     string // for people

	kube     *server      // nil for a recording
	over     lw.Transport // for discovery
	close    func() error
	writer   *recording.Writer    // of --record
	recorded *recording.Recording // of --replay
	player   *recording.Player
}

// source opens what the command line names. fail ends the program.
func (c *config) source(ctx context.Context, status *status, fail func(error)) (*source, error) {
	if c.tape.replay != "" {
		recorded, err := recording.Open(c.tape.replay)
		if err != nil {
			return nil, err
		}
		if len(recorded.Collections) > 0 {
			c.when.from = recorded.Collections[0].From
		}
		player := recorded.Play(c.tape.speed)
		return &source{about: "recording " + c.tape.replay, namespace: "default", over: player.Discovery(), close: recorded.Close, recorded: recorded, player: player}, nil
	}
	config, err := c.where.config(ctx, status.out)
	if err != nil {
		return nil, err
	}
	http, err := config.Transport()
	if err != nil {
		return nil, err
	}
	s := &source{kube: &server{config, &c.where}, server: config.Server, namespace: config.Namespace, over: c.where.over(http), close: func() error { http.Close(); return nil }}
	s.about = fmt.Sprintf("server %s, context %q, user %q", config.Server, config.Context, config.User)
	if c.tape.record == "" {
		return s, nil
	}
	s.writer, err = recording.Create(c.tape.record, c.tape.overwrite, func(err error) { fail(ofRecord(err)) })
	if err != nil {
		http.Close()
		return nil, ofRecord(err)
	}
	s.over = s.writer.Transport(s.over)
	s.close = func() error { http.Close(); return ofRecord(s.writer.Close()) }
	return s, nil
}

func ofRecord(err error) error {
	if err == nil {
		return nil
	}
	hint := ""
	if errors.Is(err, syscall.ENOSPC) {
		hint = "the disk is full"
	}
	return advise(fmt.Errorf("--record: %v", err), hint) // a pipe that broke is not standard output
}

// resources returns the collections that the command line names, or those of the recording if it names none.
func (s *source) resources(ctx context.Context, c *config, status *status) (resources []lw.Resource, err error) {
	w := &c.what
	if s.recorded != nil && len(w.names) == 0 {
		for _, followed := range s.recorded.Collections {
			resources = append(resources, followed.Resource())
			w.labels, w.fields, w.shardSelector = followed.Labels, followed.Fields, followed.Shard // which are the same for all of a run
		}
		if len(resources) == 0 {
			return nil, errors.Join(errors.New("the recording says of no collection that it was followed: name one, as /api/v1/pods"), s.recorded.Broken)
		}
		return resources, nil
	}
	if resources, err = s.resolve(ctx, w, status); err != nil {
		return nil, err
	}
	for _, r := range resources {
		if s.writer != nil {
			s.writer.Follow(recording.Collection{
				Group: r.Group, Version: r.Version, Plural: r.Plural, Namespace: r.Namespace, Name: r.Name, Raw: r.Raw,
				Labels: w.labels, Fields: w.fields, Shard: w.shardSelector, From: c.when.from,
			})
		}
	}
	return resources, nil
}

// collection returns the transport of one collection, its clock, of which nil is that of everybody, and what ends its use.
func (s *source) collection() (transport lw.Transport, now func() time.Time, end func()) {
	if s.player == nil {
		return s.over, nil, func() {}
	}
	playback := s.player.Collection()
	return playback, playback.Now, playback.Close
}

// end tells of a replay that was not ended by anything else.
func (s *source) end(status *status) error {
	status.say("replayed %d frames, of %v", s.player.Frames(), s.recorded.Length.Round(time.Millisecond))
	return s.recorded.Broken
}
