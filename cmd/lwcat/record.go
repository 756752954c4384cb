package main

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/seed-6d2a410a/listwatch/cmd/lwcat/internal/output"
	"github.com/seed-6d2a410a/listwatch/lw"
	"github.com/spf13/pflag"
)

// recordOptions select the recording that lwcat writes or replays.
type recordOptions struct {
	record string // file to write, or ""
	replay string // file to replay, or ""
}

func (o *recordOptions) flags(set *pflag.FlagSet) {
	set.StringVar(&o.record, "record", "", "also write all events, including all objects, to `FILE` for --replay")
	set.StringVar(&o.replay, "replay", "", "print the events in `FILE`, which --record or -o jsonl has written, instead of connecting to a server")
}

// liveFlags are the flags that --replay rejects, because they ask for a live run. A replay ignores flags that only
// describe a connection, such as --context, because a shell alias may always set them.
var liveFlags = []string{
	"server", "namespace", "all-namespaces", "selector", "field-selector", "for", "types", "metadata-only", "from", "resume", "record",
}

func (o *recordOptions) validate(flags *pflag.FlagSet) error {
	for _, name := range []string{"resume", "record", "replay"} { // a script may pass a variable that is not set
		if flag := flags.Lookup(name); flag.Changed && flag.Value.String() == "" {
			return fmt.Errorf("--%s is empty: expected a file name", name)
		}
	}
	for _, name := range liveFlags {
		if o.replay != "" && flags.Changed(name) {
			return fmt.Errorf("--%s and --replay cannot be combined", name)
		}
	}
	switch {
	case o.record == "-":
		return errors.New("--record needs a file, because lwcat writes the events to standard output")
	case o.record != "" && flags.Changed("resume"):
		return errors.New("--resume omits objects that a recording must contain: do not combine it with --record")
	}
	return nil
}

// recordedEvent is a line in a recording: an event as -o jsonl prints it, or a change of the stream's state, such
// as SYNCED.
type recordedEvent struct {
	Type            string          `json:"type"`
	Time            time.Time       `json:"time"`
	Resource        string          `json:"resource"`
	Collection      string          `json:"collection,omitempty"` // includes the namespace, unlike Resource; missing in -o jsonl
	Key             string          `json:"key,omitempty"`
	ResourceVersion string          `json:"resourceVersion,omitempty"`
	Error           string          `json:"error,omitempty"`  // set for INTERRUPTED
	Relist          bool            `json:"relist,omitempty"` // whether a list follows the interruption
	Object          json.RawMessage `json:"object,omitempty"`
}

// recorder writes a recording. Its caller must hold the printer's lock.
type recorder struct {
	file *os.File
	out  *bufio.Writer
	json *json.Encoder
}

// newRecorder creates a recording. It does not overwrite an existing file, but can write to a pipe. Only the file's
// owner may read it, because it may contain Secrets.
func newRecorder(path string) (*recorder, error) {
	flags := os.O_WRONLY
	if info, err := os.Stat(path); err != nil || info.Mode().IsRegular() {
		flags |= os.O_CREATE | os.O_EXCL
	}
	file, err := os.OpenFile(path, flags, 0o600)
	if os.IsExist(err) {
		err = fmt.Errorf("%s already exists: specify another file, or remove it", path)
	}
	if err != nil {
		return nil, recordError(err)
	}
	r := &recorder{file: file, out: bufio.NewWriter(file)}
	r.json = json.NewEncoder(r.out)
	r.json.SetEscapeHTML(false) // keeps the bytes of the objects
	return r, nil
}

// write appends an event's changes, followed by the event itself if it marks a change of the stream's state.
func (r *recorder) write(s *stream, event *lw.Event[*lw.Object], changes []output.Event) (err error) {
	for _, e := range changes {
		err = cmp.Or(err, r.json.Encode(recordedEvent{
			Type: e.Type.String(), Time: e.Time.UTC(), Resource: s.kind, Collection: s.name,
			Key: lw.KeyOf(e.Object).String(), ResourceVersion: e.Object.GetResourceVersion(), Object: json.RawMessage(e.Object.Raw()),
		}))
	}
	if slices.Contains([]lw.EventType{lw.ListStarted, lw.Synced, lw.WatchStarted, lw.Interrupted, lw.Restored}, event.Type) {
		state := recordedEvent{Type: event.Type.String(), Time: time.Now().UTC(), Resource: s.kind, Collection: s.name, ResourceVersion: event.ResourceVersion}
		if i := event.Interruption; i != nil {
			state.Error, state.Relist = i.Err.Error(), i.Relist
		}
		err = cmp.Or(err, r.json.Encode(state))
	}
	return recordError(err)
}

func recordError(err error) error {
	if err != nil {
		err = fmt.Errorf("--record: %v", err) // %v hides EPIPE, because exitCode would interpret it as a closed standard output
	}
	return err
}

// close flushes and closes the file.
func (r *recorder) close() error { return recordError(errors.Join(r.out.Flush(), r.file.Close())) }

// readRecording iterates over the lines of a recording, from its beginning, because a replay reads the file twice. If a
// line is invalid, the iteration ends with an error that names this line.
func readRecording(file *os.File) iter.Seq2[recordedEvent, error] {
	return func(yield func(recordedEvent, error) bool) {
		if _, err := file.Seek(0, io.SeekStart); err != nil {
			yield(recordedEvent{}, err)
			return
		}
		in := bufio.NewReader(file)
		for number := 1; ; number++ {
			var event recordedEvent
			line, err := in.ReadBytes('\n')
			switch {
			case err == io.EOF && len(line) == 0:
				return
			case err == io.EOF:
				err = errors.New("the line is incomplete")
			case err == nil && (json.Unmarshal(line, &event) != nil || event.eventType() == 0):
				// The error does not quote the line, because the line may be part of a Secret.
				err = errors.New("the line is not an event that lwcat --record or lwcat -o jsonl printed")
			}
			if err != nil {
				err = fmt.Errorf("%s: line %d of the recording: %w", file.Name(), number, err)
			}
			if !yield(event, err) || err != nil {
				return
			}
		}
	}
}

// eventType returns the type of a recorded event, or 0 if it is unknown.
func (e *recordedEvent) eventType() lw.EventType {
	for t := lw.ListStarted; t <= lw.Restored; t++ {
		if t.String() == e.Type {
			return t
		}
	}
	return 0
}

// replayed prints a recorded collection in the same way as a stream prints a live collection.
type replayed struct {
	*stream
	objects map[lw.Key]*lw.Object // the current objects, which become the old objects of later events
}

// replay prints the events in a recording.
func (c *config) replay(ctx context.Context, stdout io.Writer, status *status) error {
	file, err := os.Open(c.recording.replay)
	if err != nil {
		return err
	}
	defer file.Close()
	resources, names, err := c.recorded(file)
	if err != nil {
		return err
	}
	p := &printer{config: c, out: bufio.NewWriterSize(stdout, 64<<10), status: status}
	streams := map[string]*replayed{}
	for i, s := range c.newStreams(resources, p) {
		s.name = names[i]
		streams[s.name] = &replayed{stream: s, objects: map[lw.Key]*lw.Object{}}
	}
	return p.finish(c.play(ctx, file, streams, status))
}

// recorded returns the recorded collections that the arguments select, and their names. It ignores everything after
// a damaged line, so that the recording of a killed run can be replayed up to that line.
func (c *config) recorded(file *os.File) (resources []lw.Resource, names []string, err error) {
	wanted := split(c.resources.names)
	var others []string
	for event, err := range readRecording(file) {
		if err != nil && names == nil && others == nil {
			return nil, nil, err
		}
		plural, group, _ := strings.Cut(event.Resource, ".")
		resource, collection := lw.Resource{Plural: plural, Group: group}, cmp.Or(event.Collection, event.Resource)
		switch {
		case err != nil || slices.Contains(names, collection):
		case len(wanted) == 0 || slices.Contains(wanted, event.Resource) || slices.Contains(wanted, resource.Plural):
			resources, names = append(resources, resource), append(names, collection)
		default:
			others = append(others, event.Resource)
		}
	}
	switch {
	case names == nil && others == nil: // --record creates the file before the first event
		return nil, nil, errors.New("the recording contains no events")
	case names == nil:
		return nil, nil, fmt.Errorf("the recording contains no events of %s, only of %s", strings.Join(wanted, ", "), strings.Join(compact(others), ", "))
	}
	return resources, names, nil
}

// play prints the events of the recorded collections.
func (c *config) play(ctx context.Context, file *os.File, streams map[string]*replayed, status *status) error {
	var first, last time.Time
	marked := false // whether the lines mark the ends of lists; only those of --record do
	for event, err := range readRecording(file) {
		if err = cmp.Or(err, context.Cause(ctx)); err != nil {
			return err
		}
		if last = event.Time; first.IsZero() {
			first = last
		}
		marked = event.Collection != ""
		name := cmp.Or(event.Collection, event.Resource)
		if streams[name] == nil {
			continue // the arguments omit it, or --once has ended it
		}
		if ended, err := streams[name].play(&event); err != nil {
			return err
		} else if ended {
			delete(streams, name)
		}
		if len(streams) == 0 {
			break
		}
	}
	for _, s := range streams {
		if !marked && s.markListed() {
			return errDone
		}
	}
	status.logf("replayed a recording of %v", last.Sub(first).Round(time.Millisecond))
	return nil
}

// play handles a recorded event as if the server had sent it. It returns true after the stream's last event.
func (s *replayed) play(recorded *recordedEvent) (last bool, err error) {
	event := lw.Event[*lw.Object]{Type: recorded.eventType(), ResourceVersion: recorded.ResourceVersion}
	s.events = s.events[:0]
	switch event.Type {
	case lw.Restored: // the recorded run started with --from
		s.noInitialState = true
		return false, s.restoreEvent(event)
	case lw.Interrupted:
		event.Interruption = &lw.Interruption{Err: errors.New(recorded.Error), Relist: recorded.Relist}
	case lw.Added, lw.Modified, lw.Deleted:
		o, err := lw.ParseObject(recorded.Object)
		if err != nil {
			return false, fmt.Errorf("the recording contains an invalid object: %w", err)
		}
		s.appendEvent(event.Type, recorded.Time, o, s.objects[lw.KeyOf(o)])
		if s.objects[lw.KeyOf(o)] = o; event.Type == lw.Deleted {
			delete(s.objects, lw.KeyOf(o))
		}
		if s.listing {
			event.Type = lw.Added // the change is the result of a list
		}
	}
	return s.handle(event, s.events)
}
