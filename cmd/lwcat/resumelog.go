package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"io"
	"strconv"
	"time"
)

// resumeFormat identifies the file format. Incompatible formats need a new name.
const resumeFormat = "lwcat-resume-2"

const (
	maxResumeSize = 1 << 30 // in bytes
	minCompaction = 4 << 20 // in bytes; shorter logs are not compacted
)

// resumeHeader is the first line of the file. Each later run adds another header line.
type resumeHeader struct {
	Format string    `json:"format"`
	Server string    `json:"server"`
	Start  time.Time `json:"start"`
}

// resumeEntry is a line with changes of one collection, or with its whole state.
type resumeEntry struct {
	Collection      string                    `json:"collection,omitempty"`
	Kind            string                    `json:"kind,omitempty"`
	APIVersion      string                    `json:"apiVersion,omitempty"`
	ResourceVersion string                    `json:"resourceVersion,omitempty"`
	Objects         map[string]*objectVersion `json:"objects,omitempty"` // by key, for example "default/web-0"; nil for a deleted object
}

// objectVersion is the printed version of an object.
type objectVersion struct {
	UID             string `json:"uid"`
	ResourceVersion string `json:"resourceVersion"`
}

func newEntry(collection string) *resumeEntry {
	return &resumeEntry{Collection: collection, Objects: map[string]*objectVersion{}}
}

// readResume reads the lines before the first damaged line. It returns the header, the state, the end of the last valid
// line, and the size of the file.
func readResume(from io.ReaderAt) (header resumeHeader, saved map[string]*resumeEntry, end, size int64) {
	saved = map[string]*resumeEntry{}
	in := bufio.NewReaderSize(io.NewSectionReader(from, 0, maxResumeSize), 64<<10)
	valid := true
	for {
		line, err := in.ReadBytes('\n')
		size += int64(len(line))
		if err != nil {
			return header, saved, end, size
		}
		checksum, text, _ := bytes.Cut(bytes.TrimSuffix(line, []byte("\n")), []byte(" "))
		sum, err := strconv.ParseUint(string(checksum), 16, 32)
		valid = valid && err == nil && uint32(sum) == crc32.ChecksumIEEE(text)
		if !valid {
			continue // later lines count only towards the size
		}
		end = size
		entry := resumeEntry{}
		if json.Unmarshal(text, &entry) == nil && entry.Collection != "" {
			entry.applyTo(saved)
		} else if header.Format == "" {
			_ = json.Unmarshal(text, &header) // a malformed header has no format, so it is rejected
		}
	}
}

func (e *resumeEntry) applyTo(saved map[string]*resumeEntry) {
	state := saved[e.Collection]
	if state == nil {
		state = newEntry(e.Collection)
		saved[e.Collection] = state
	}
	if e.Kind != "" {
		state.Kind, state.APIVersion = e.Kind, e.APIVersion
	}
	if e.ResourceVersion != "" {
		state.ResourceVersion = e.ResourceVersion
	}
	for key, version := range e.Objects {
		if version == nil {
			delete(state.Objects, key)
		} else {
			state.Objects[key] = version
		}
	}
}

// resumeLine appends a line that contains the checksum and the JSON of value, and returns the result.
func resumeLine(line []byte, value any) []byte {
	text, err := json.Marshal(value)
	if err != nil {
		panic(err) // impossible for these types
	}
	return fmt.Appendf(line, "%08x %s\n", crc32.ChecksumIEEE(text), text)
}
