package recording

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// maxLine limits the length of a line, in bytes. JSON escapes can make a frame six times as long.
const maxLine = 1 << 20

// Recording is an opened recording. It reads the frames from the file when they are played.
type Recording struct {
	Header
	Collections []Collection  // collections that the run followed, in order
	Frames      int           // number of frames
	Length      time.Duration // time from the start to the last entry
	Broken      error         // a *CorruptError if the rest of the file is damaged

	file    io.ReaderAt
	streams []*stream // requests in the order in which they were sent
	numbers map[int]*stream
}

// stream is a request with its response.
type stream struct {
	line     int
	path     string
	query    string
	watch    bool
	answered bool
	opened   int64 // time of the response, if answered
	rejected *failure
	frames   []frameOffset
	closed   bool
	end      int64 // time of the end, if closed
	failure  *failure
}

// frameOffset is the position of a frame in the file.
type frameOffset struct {
	at     int64
	offset int64
	length int
}

// CorruptError reports a file that is incomplete, damaged, not a recording, or written by a newer lwcat.
type CorruptError struct {
	Line int // the first line is 1
	Err  error
}

func (e *CorruptError) Error() string {
	text := "line " + strconv.Itoa(e.Line) + " of the recording"
	if rest, ok := strings.CutPrefix(e.Err.Error(), "the line "); ok {
		return text + " " + rest
	}
	return text + ": " + e.Err.Error()
}

func (e *CorruptError) Unwrap() error { return e.Err }

// Open opens a recording. The caller must close it.
func Open(path string) (*Recording, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	r, err := Read(file)
	if err != nil {
		_ = file.Close()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return r, nil
}

// Close closes the file.
func (r *Recording) Close() error {
	if file, ok := r.file.(io.Closer); ok {
		return file.Close()
	}
	return nil
}

// Read reads the entries of a recording. It returns a *CorruptError if the header is invalid. If a later line is
// invalid, it sets Broken and keeps the entries before that line.
func Read(file io.ReaderAt) (*Recording, error) {
	r := &Recording{file: file, numbers: map[int]*stream{}}
	in := bufio.NewReaderSize(io.NewSectionReader(file, 0, 1<<62), maxLine)
	offset := int64(0)
	for number := 1; ; number++ {
		line, err := in.ReadSlice('\n')
		if err == io.EOF && len(line) == 0 && number > 1 {
			return r, nil
		}
		err = lineError(line, err)
		if err == nil && number == 1 {
			err = r.header(line)
		} else if err == nil {
			err = r.entry(line, number, offset)
		}
		if err != nil && number == 1 {
			return nil, &CorruptError{number, err}
		}
		if err != nil {
			r.Broken = &CorruptError{number, err}
			return r, nil
		}
		offset += int64(len(line))
	}
}

func lineError(line []byte, err error) error {
	switch {
	case err == bufio.ErrBufferFull:
		return errors.New("the line is too long: the limit is " + strconv.Itoa(maxLine) + " bytes")
	case err == io.EOF && len(line) == 0:
		return errors.New("the file is empty")
	case err == io.EOF:
		return errors.New("the line is incomplete")
	case err == nil && !utf8.Valid(line):
		return errors.New("the line is not valid UTF-8")
	}
	return err
}

func (r *Recording) header(line []byte) error {
	err := json.Unmarshal(line, &r.Header)
	switch {
	case r.Format != formatName:
		return errors.New("the file is not an lwcat recording")
	case r.Version > formatVersion:
		return fmt.Errorf("the format version is %d, but this lwcat supports only %d: use a newer lwcat", r.Version, formatVersion)
	case err != nil:
		return errors.New("the header is damaged")
	case r.Version != formatVersion:
		return fmt.Errorf("unknown format version %d", r.Version)
	}
	return nil
}

// parseEntry parses a line after the header.
func parseEntry(line []byte) (e entry, err error) {
	if err := json.Unmarshal(line, &e); err != nil {
		return e, errors.New("the line is damaged") // the decoder's error may quote the object
	}
	return e, nil
}

// entry adds a line after the header to the recording.
func (r *Recording) entry(line []byte, number int, offset int64) error {
	e, err := parseEntry(line)
	if err != nil {
		return err
	}
	s := r.numbers[e.Stream]
	switch {
	case e.At < 0:
		return errors.New("the time is before the start")
	case e.Kind == kindFollow && e.Collection != nil:
		r.Collections = append(r.Collections, *e.Collection)
	case e.Kind == kindOpen && s == nil && e.Path != "":
		s = &stream{line: number, path: e.Path, query: e.Query, watch: e.Watch}
		r.streams, r.numbers[e.Stream] = append(r.streams, s), s
	case s == nil || !s.accepts(e.Kind):
		return fmt.Errorf("unexpected entry %q of stream %d", e.Kind, e.Stream)
	case e.At < s.latest():
		return errors.New("the time is before the stream's previous entry")
	case e.Kind == kindOpened:
		s.answered, s.opened, s.rejected = true, e.At, e.Failure
	case e.Kind == kindFrame:
		s.frames = append(s.frames, frameOffset{e.At, offset, len(line)})
		r.Frames++
	case e.Kind == kindClosed:
		s.closed, s.end, s.failure = true, e.At, e.Failure
	}
	r.Length = max(r.Length, time.Duration(e.At))
	return nil
}

// accepts reports whether an entry of this kind may come next.
func (s *stream) accepts(kind string) bool {
	switch kind {
	case kindOpened:
		return !s.answered
	case kindFrame, kindClosed:
		return s.answered && s.rejected == nil && !s.closed
	}
	return false
}

// latest returns the time of the stream's last entry.
func (s *stream) latest() int64 {
	if n := len(s.frames); n > 0 {
		return s.frames[n-1].at
	}
	return s.opened
}

// text reads the text of a frame from the file.
func (r *Recording) text(f frameOffset) ([]byte, error) {
	line := make([]byte, f.length)
	if _, err := r.file.ReadAt(line, f.offset); err != nil {
		return nil, fmt.Errorf("reading the recording: %w", err)
	}
	e, err := parseEntry(line)
	if err != nil {
		return nil, fmt.Errorf("the recording changed during the replay: %w", err)
	}
	if e.Text != "" {
		return []byte(e.Text), nil
	}
	return e.Base64, nil
}
