package recording

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"
	"unicode/utf8"
)

// maxLine limits the length of a line, in bytes. JSON escapes can make an entry six times as long as its data.
const maxLine = 1 << 20

// Recording is an open recording file. Responses are read from the file only when they are played.
type Recording struct {
	Header
	Collections []Collection  // collections that the run followed, in order
	Length      time.Duration // time from the start to the last entry
	Broken      error         // the reason why the rest of the file cannot be played, or nil

	file    io.ReaderAt
	streams []*stream // requests in the order in which they were sent
	numbers map[int]*stream
}

// stream is a request with its response.
type stream struct {
	open    entry
	line    int
	opened  *mark // nil if the recording ends before the response
	data    []mark
	closed  *mark // nil if the recording ends before the response does
	failure *failure
}

// mark is the position of an entry in the recording.
type mark struct {
	at     int64 // time of the entry
	offset int64 // position of the line in the file
	length int   // length of the line
}

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

// Read reads the entries of a recording. It returns an error if the header is invalid. If a later line is invalid, it
// sets Broken and keeps the entries before that line.
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
		if err != nil {
			err = fmt.Errorf("line %d of the recording: %w", number, err)
		}
		if err != nil && number == 1 {
			return nil, err
		}
		if err != nil {
			r.Broken = err
			return r, nil
		}
		offset += int64(len(line))
	}
}

func lineError(line []byte, err error) error {
	switch {
	case err == bufio.ErrBufferFull:
		return fmt.Errorf("the line exceeds the limit of %d bytes", maxLine)
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
	case r.Version != formatVersion:
		return fmt.Errorf("the format version is %d, but this lwcat supports only %d: use the lwcat that wrote the file", r.Version, formatVersion)
	case err != nil:
		return errors.New("the header is damaged")
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

// entry parses a line after the header and adds it to the recording.
func (r *Recording) entry(line []byte, number int, offset int64) error {
	e, err := parseEntry(line)
	if err != nil {
		return err
	}
	s, position := r.numbers[e.Stream], mark{e.At, offset, len(line)}
	answering := s != nil && s.opened != nil && s.failure == nil && s.closed == nil
	switch {
	case e.At < int64(r.Length):
		return errors.New("the time is earlier than in the previous line")
	case e.Kind == kindFollow && e.Collection != nil:
		r.Collections = append(r.Collections, *e.Collection)
	case e.Kind == kindOpen && s == nil && e.Path != "":
		s = &stream{line: number, open: e}
		r.streams, r.numbers[e.Stream] = append(r.streams, s), s
	case e.Kind == kindOpened && s != nil && s.opened == nil:
		s.opened, s.failure = &position, e.Failure
	case e.Kind == kindData && answering:
		s.data = append(s.data, position)
	case e.Kind == kindClosed && answering:
		s.closed, s.failure = &position, e.Failure
	default:
		return fmt.Errorf("unexpected %q entry for stream %d", e.Kind, e.Stream)
	}
	r.Length = time.Duration(e.At)
	return nil
}

// text reads the data of an entry from the file.
func (r *Recording) text(m mark) ([]byte, error) {
	line := make([]byte, m.length)
	if _, err := r.file.ReadAt(line, m.offset); err != nil {
		return nil, fmt.Errorf("reading the recording: %w", err)
	}
	e, err := parseEntry(line)
	if err != nil {
		return nil, fmt.Errorf("the recording changed during the replay: %w", err)
	}
	return append([]byte(e.Text), e.Base64...), nil
}
