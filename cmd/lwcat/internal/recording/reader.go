package recording

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"time"
	"unicode/utf8"
)

// maxLine bounds a line, in bytes: a frame's text may be six times as long in JSON.
const maxLine = 1 << 20

// Recording is what a file holds. The frames stay in the file until they are played.
type Recording struct {
	Header
	Collections []Collection  // that the run has followed, in order
	Frames      int           // how many there are
	Length      time.Duration // from the start to the last of all
	Broken      error         // a *CorruptError: what is wrong with the file behind all this; nil if nothing is

	file    io.ReaderAt
	streams []*stream // in order of their requests
	numbers map[int]*stream
}

// stream is a request with its answer.
type stream struct {
	line     int
	path     string
	query    string
	watch    bool
	answered bool
	opened   int64 // when, if it was answered
	rejected *failure
	frames   []frameOffset
	closed   bool
	end      int64 // when, if it was closed
	failure  *failure
}

// frameOffset is where a frame's line lies in the file.
type frameOffset struct {
	at     int64
	offset int64
	length int
}

// CorruptError says that a recording is cut short, damaged, foreign, or newer than this program.
type CorruptError struct {
	Line int // from 1
	Err  error
}

func (e *CorruptError) Error() string {
	return "the recording's line " + strconv.Itoa(e.Line) + ": " + e.Err.Error()
}

func (e *CorruptError) Unwrap() error { return e.Err }

// Open opens a recording, which the caller closes.
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

// Read looks through a recording. It returns a *CorruptError for a file that is none or whose header is wrong; what is
// wrong with a later line is left in Broken, as all before it can be played.
func Read(file io.ReaderAt) (*Recording, error) {
	r := &Recording{file: file, numbers: map[int]*stream{}}
	in := bufio.NewReaderSize(io.NewSectionReader(file, 0, 1<<62), maxLine)
	offset := int64(0)
	for number := 1; ; number++ {
		line, err := in.ReadSlice('\n')
		if err == io.EOF && len(line) == 0 && number > 1 {
			return r, nil
		}
		if err = lineError(line, err); err == nil && number == 1 {
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
		return errors.New("it is too long for a recording's")
	case err == io.EOF && len(line) == 0:
		return errors.New("the file is empty")
	case err == io.EOF:
		return errors.New("it is cut short")
	case err == nil && !utf8.Valid(line):
		return errors.New("it is no UTF-8")
	}
	return err
}

func (r *Recording) header(line []byte) error {
	err := json.Unmarshal(line, &r.Header)
	switch {
	case r.Format != formatName:
		return errors.New("this is no recording of lwcat's")
	case r.Version > formatVersion:
		return fmt.Errorf("the recording has version %d of the format, and this lwcat knows %d: use a newer one", r.Version, formatVersion)
	case err != nil:
		return errors.New("the header is damaged")
	case r.Version != formatVersion:
		return fmt.Errorf("there is no version %d of the format", r.Version)
	}
	return nil
}

// parseEntry reads a line, but for the header's.
func parseEntry(line []byte) (e entry, err error) {
	if err := json.Unmarshal(line, &e); err != nil {
		return e, errors.New("it is damaged") // the decoder's words may hold a part of it
	}
	return e, nil
}

// entry takes a line.
func (r *Recording) entry(line []byte, number int, offset int64) error {
	e, err := parseEntry(line)
	if err != nil {
		return err
	}
	s := r.numbers[e.Stream]
	switch {
	case e.At < 0:
		return errors.New("its time is before the start")
	case e.Kind == kindFollow && e.Collection != nil:
		r.Collections = append(r.Collections, *e.Collection)
	case e.Kind == kindOpen && s == nil && e.Path != "":
		s = &stream{line: number, path: e.Path, query: e.Query, watch: e.Watch}
		r.streams, r.numbers[e.Stream] = append(r.streams, s), s
	case s == nil || !s.accepts(e.Kind):
		return fmt.Errorf("%q of stream %d stands where it cannot", e.Kind, e.Stream)
	case e.At < s.latest():
		return errors.New("its time is before that of the line before it")
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

// accepts reports whether an entry of this kind may follow.
func (s *stream) accepts(kind string) bool {
	switch kind {
	case kindOpened:
		return !s.answered
	case kindFrame, kindClosed:
		return s.answered && s.rejected == nil && !s.closed
	}
	return false
}

// latest is when the last of it came.
func (s *stream) latest() int64 {
	if n := len(s.frames); n > 0 {
		return s.frames[n-1].at
	}
	return s.opened
}

// text reads a frame from the file.
func (r *Recording) text(f frameOffset) ([]byte, error) {
	line := make([]byte, f.length)
	if _, err := r.file.ReadAt(line, f.offset); err != nil {
		return nil, fmt.Errorf("reading the recording: %w", err)
	}
	e, err := parseEntry(line)
	if err != nil {
		return nil, fmt.Errorf("the recording has changed meanwhile: %w", err)
	}
	if e.Text != "" {
		return []byte(e.Text), nil
	}
	return e.Base64, nil
}
