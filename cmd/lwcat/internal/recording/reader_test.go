package recording

import (
	"bytes"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/seed-6d2a410a/listwatch/lw"
	"github.com/stretchr/testify/require"
)

const header = `{"format":"lwcat-recording","version":2,"start":"2026-01-01T00:00:00Z"}` + "\n"

const (
	open   = `{"at":1,"kind":"open","stream":1,"path":"/x","watch":true}` + "\n"
	opened = `{"at":2,"kind":"opened","stream":1}` + "\n"
	frame  = `{"at":3,"kind":"data","stream":1,"text":"{}\n"}` + "\n"
	closed = `{"at":4,"kind":"closed","stream":1}` + "\n"
)

func TestRejectsInvalidHeaders(t *testing.T) {
	for text, want := range map[string]string{
		"":                                      "line 1 of the recording: the line is incomplete",
		"\n":                                    "line 1 of the recording: the file is not an lwcat recording",
		"{}\n":                                  "line 1 of the recording: the file is not an lwcat recording",
		"\xff\n":                                "line 1 of the recording: the line is not valid UTF-8",
		`{"format":"lwcat`:                      "line 1 of the recording: the line is incomplete",
		strings.Repeat("x", 2e6):                "line 1 of the recording: the line exceeds the limit of 1048576 bytes",
		`{"format":"x"}` + "\n":                 "line 1 of the recording: the file is not an lwcat recording",
		strings.Replace(header, "2", "1", 1):    "line 1 of the recording: the format version is 1, but this lwcat supports only 2: use the lwcat that wrote the file",
		strings.Replace(header, "2026", "x", 1): "line 1 of the recording: the header is damaged",
	} {
		_, err := Read(bytes.NewReader([]byte(text)))
		require.EqualError(t, err, want)
	}
}

func TestPlaysUpToDamage(t *testing.T) {
	for damage, want := range map[string]string{
		closed[:20]:                                 ": the line is incomplete",
		"\n":                                        ": the line is damaged",
		closed[:20] + "\n":                          ": the line is damaged",
		closed[:30] + "{}\n":                        ": the line is damaged",
		"{\"at\":4,\xff}\n":                         ": the line is not valid UTF-8",
		strings.Replace(open, "1", "4", 1):          `: unexpected "open" entry for stream 1`,
		strings.Replace(opened, "2", "4", 1):        `: unexpected "opened" entry for stream 1`,
		strings.Replace(closed, "4", "-4", 1):       ": the time is earlier than in the previous line",
		strings.Replace(closed, "4", "1", 1):        ": the time is earlier than in the previous line",
		strings.Replace(closed, `m":1`, `m":2`, 1):  `: unexpected "closed" entry for stream 2`,
		strings.Replace(closed, "closed", "new", 1): `: unexpected "new" entry for stream 1`,
		`{"at":4,"kind":"follow"}` + "\n":           `: unexpected "follow" entry for stream 0`,
		`{"at":4,"kind":"open","stream":2}` + "\n":  `: unexpected "open" entry for stream 2`,
	} {
		r, err := Read(bytes.NewReader([]byte(header + open + opened + frame + damage)))
		require.NoError(t, err)
		require.EqualError(t, r.Broken, "line 5 of the recording"+want)
		body, err := r.Play(0).Discovery().Open(t.Context(), &lw.Request{Path: "/x", Watch: true})
		require.NoError(t, err)
		text, err := io.ReadAll(body)
		require.Equal(t, ErrEnd, err, "a response without a recorded end must end with ErrEnd")
		require.Equal(t, "{}\n", string(text))
	}
}

// FuzzRead checks that any input is played or rejected, and that damage does not affect earlier lines. It also reads
// each input after a valid header, because mutations rarely preserve the header.
func FuzzRead(f *testing.F) {
	whole := header + `{"at":0,"kind":"follow","collection":{"resource":{"Plural":"pods","Version":"v1"}}}` + "\n" + open + opened + frame + closed
	f.Add([]byte(whole), uint16(len(header)))
	f.Add([]byte(whole[:len(whole)-5]), uint16(len(whole)-20))
	f.Add([]byte(strings.Replace(whole, `"text":"{}\n"`, `"base64":"/w=="`, 1)), uint16(0))
	f.Add([]byte(header+open+`{"at":2,"kind":"opened","stream":1,"failure":{"status":{"Code":403}}}`+"\n"), uint16(300))
	f.Add([]byte(header+open+opened+`{"at":4,"kind":"closed","stream":1,"failure":{"kind":"cut"}}`+"\n"), uint16(300))
	f.Add([]byte(whole[len(header):]), uint16(len(whole)-20))
	f.Fuzz(func(t *testing.T, data []byte, cut uint16) {
		checkRead(t, data, int(cut))
		checkRead(t, slices.Concat([]byte(header), data), len(header)+int(cut))
	})
}

// checkRead reads a file, and then only its complete lines before the offset cut. The responses of the shorter file
// must be prefixes of the original responses.
func checkRead(t *testing.T, data []byte, cut int) {
	r := readAny(t, data)
	if r == nil {
		return
	}
	all := playAll(t, r)
	lines := bytes.LastIndexByte(data[:min(cut, len(data))], '\n') + 1
	part := readAny(t, data[:lines])
	if part == nil {
		require.Less(t, lines, bytes.IndexByte(data, '\n')+1, "only an invalid first line may cause an error")
		return
	}
	for i, text := range playAll(t, part) {
		require.True(t, strings.HasPrefix(all[i], text))
	}
}

// readAny returns the recording, or nil if the file is not a recording.
func readAny(t *testing.T, data []byte) *Recording {
	r, err := Read(bytes.NewReader(data))
	require.Equal(t, err != nil, r == nil)
	return r
}

// playAll plays all requests and returns their responses.
func playAll(t *testing.T, r *Recording) (all []string) {
	view := r.Play(0).Discovery()
	for _, s := range r.streams {
		text := ""
		if body, err := view.Open(t.Context(), &lw.Request{Path: s.open.Path, Query: s.open.Query, Watch: s.open.Watch}); err == nil {
			read, err := io.ReadAll(body)
			require.False(t, err == nil && s.closed == nil, "a response without a recorded end must not end cleanly")
			text = string(read)
		}
		all = append(all, text)
	}
	return all
}
