package recording

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/seed-6d2a410a/listwatch/lw"
	"github.com/stretchr/testify/require"
)

const event = `{"type":"ADDED","object":{"metadata":{"name":"a"}}}` + "\n"

func TestReplayIsByteExact(t *testing.T) {
	large := `{"a":"` + strings.Repeat("ö☃", 50<<10) + `"}` + "\n"
	for name, says := range map[string][]timedText{
		"events":                            {{0, event}, {0, event + event[:20]}, {0, event[20:]}},
		"WebSocket messages":                {{0, event}, {0, "\n"}, {0, event}},
		"event without a newline":           {{0, event[:len(event)-1]}, {5 * time.Second, "\n" + event}},
		"empty lines":                       {{0, "\n\n\n"}, {0, event}, {0, "\n"}},
		"large event":                       {{0, large}, {0, event}},
		"invalid UTF-8":                     {{0, "\xff\x00\u2028<&>\n"}, {0, event}},
		"character split between two reads": {{0, "\"\xe2"}, {3 * time.Second, "\x98\x83\"\n"}},
		"truncated character":               {{0, "\"\xe2"}},
		"empty body":                        nil,
		"list with newlines":                {{0, "{\"items\":[\n\n"}, {0, "]}"}},
	} {
		for _, req := range []*lw.Request{watchOf("/x"), listOf("/x")} {
			t.Run(name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					w, out := begin(t)
					want, _ := record(t, w, req, &scriptedTransport{says: says})
					require.NoError(t, w.Close())
					for line := range strings.Lines(out.String()) {
						require.Less(t, len(line), 4*maxData)
					}
					if !utf8.ValidString(want) {
						require.Contains(t, out.String(), `"base64"`)
					}
					body, err := load(t, out.String()).Play(0).Discovery().Open(t.Context(), req)
					require.NoError(t, err)
					got, _, end := read(t, time.Now(), body)
					require.Equal(t, io.EOF, end)
					require.Equal(t, want, got)
				})
			})
		}
	}
}

// FuzzRecord checks that a replay returns the same bytes and the same final error for any response, regardless of the
// sizes of its reads.
func FuzzRecord(f *testing.F) {
	f.Add([]byte(event+event), uint32(7), uint8(0), true)
	f.Add([]byte("\"\xe2\x98\x83\"\n\n\xff\x00\u2028<&>"), uint32(1), uint8(1), true)
	f.Add([]byte("{\"items\":[\r\n]}\xe2\x98"), uint32(2), uint8(2), false)
	f.Fuzz(func(t *testing.T, text []byte, cuts uint32, end uint8, watch bool) {
		s := &scriptedTransport{end: []error{io.EOF, lw.ErrSilent, io.ErrUnexpectedEOF, errors.New("reset"), &lw.StatusError{Code: 410}}[end%5]}
		for rest := string(text); rest != ""; {
			cuts = cuts*1664525 + 1013904223
			n := min(1+int(cuts>>24), len(rest))
			s.says, rest = append(s.says, timedText{text: rest[:n]}), rest[n:]
		}
		req := listOf("/x")
		if watch {
			req = watchOf("/x")
		}
		w, out := begin(t)
		recorded, _ := record(t, w, req, s)
		require.Equal(t, string(text), recorded)
		require.NoError(t, w.Close())
		body, err := load(t, out.String()).Play(0).Discovery().Open(t.Context(), req)
		require.NoError(t, err)
		got, _, ended := read(t, time.Now(), body)
		require.Equal(t, string(text), got)
		require.Equal(t, s.end.Error(), ended.Error())
		require.Equal(t, s.end == io.EOF, ended == io.EOF)
	})
}

func TestRecordsArrivalTimes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, out := begin(t)
		_, _ = record(t, w, watchOf("/x"), &scriptedTransport{after: time.Second, says: []timedText{
			{time.Second, event + event}, {time.Minute + time.Second/2, event[:9]}, {time.Hour, event[9:]},
		}})
		require.NoError(t, w.Close())
		r := load(t, out.String())
		var parts []string
		for _, at := range r.streams[0].data {
			text, err := r.text(at)
			require.NoError(t, err)
			parts = append(parts, time.Duration(at.at).String()+" "+string(text))
		}
		require.Equal(t, []string{"2s " + event + event, "1m2.5s " + event[:9], "1h1m2.5s " + event[9:]}, parts)
	})
}

func TestFlushesEverySecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, out := begin(t)
		done := make(chan struct{})
		go func() {
			defer close(done)
			_, _ = record(t, w, watchOf("/x"), &scriptedTransport{says: []timedText{{0, event[:9]}, {time.Hour, event[9:]}}})
		}()
		time.Sleep(flushEvery + time.Millisecond)
		synctest.Wait()
		require.Contains(t, out.String(), `"kind":"data"`)
		<-done
		require.NoError(t, w.Close())
	})
}

// TestReplaySpeed checks that delays scale with the speed.
func TestReplaySpeed(t *testing.T) {
	for speed, factor := range map[float64]float64{1: 1, 10: 0.1, 0.5: 2, 0: 0} {
		synctest.Test(t, func(t *testing.T) {
			w, out := begin(t)
			_, _ = record(t, w, watchOf("/x"), &scriptedTransport{after: time.Second, says: []timedText{{time.Second, event}, {time.Minute, event}}})
			require.NoError(t, w.Close())
			time.Sleep(time.Hour)
			began, view := time.Now(), load(t, out.String()).Play(speed).Discovery()
			body, err := view.Open(t.Context(), watchOf("/x"))
			require.NoError(t, err)
			scaled := func(d time.Duration) time.Duration { return time.Duration(float64(d) * factor) }
			require.Equal(t, scaled(time.Second), time.Since(began))
			_, times, end := read(t, began, body)
			require.Equal(t, io.EOF, end)
			require.Equal(t, []time.Duration{scaled(2 * time.Second), scaled(62 * time.Second)}, times)
			require.Equal(t, 62*time.Second, view.Now().Sub(load(t, out.String()).Start), "view.Now must return the recorded time")
		})
	}
}

func TestReplayReturnsContextCause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, out := begin(t)
		_, _ = record(t, w, watchOf("/x"), &scriptedTransport{says: []timedText{{time.Hour, event}}})
		require.NoError(t, w.Close())
		ctx, cancel := context.WithCancelCause(t.Context())
		body, err := load(t, out.String()).Play(1).Discovery().Open(ctx, watchOf("/x"))
		require.NoError(t, err)
		enough := errors.New("enough")
		time.AfterFunc(time.Minute, func() { cancel(enough) })
		_, _, end := read(t, time.Now(), body)
		require.Equal(t, enough, end)
	})
}

// TestReplayReturnsRecordedErrors checks all errors that the engine distinguishes.
func TestReplayReturnsRecordedErrors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gone := &lw.StatusError{
			Code: 410, Reason: "Expired", Message: "m", Name: "n", Group: "g", Kind: "k",
			Causes: []lw.StatusCause{{Reason: "x"}}, RetryAfter: 3 * time.Second,
		}
		for _, want := range []error{gone, lw.ErrSilent, &lw.FrameTooLargeError{Limit: 9}, io.ErrUnexpectedEOF, errors.New("connection reset")} {
			w, out := begin(t)
			for _, s := range []*scriptedTransport{{err: want}, {end: want}, {}} {
				_, _ = record(t, w, watchOf("/x"), s)
			}
			require.NoError(t, w.Close())
			view := load(t, out.String()).Play(0).Discovery()
			_, rejected := view.Open(t.Context(), watchOf("/x"))
			body, err := view.Open(t.Context(), watchOf("/x"))
			require.NoError(t, err)
			_, _, ended := read(t, time.Now(), body)
			for _, got := range []error{rejected, ended} {
				require.Equal(t, want.Error(), got.Error())
				require.Equal(t, errors.Is(want, lw.ErrSilent), errors.Is(got, lw.ErrSilent))
				require.Equal(t, errors.Is(want, io.ErrUnexpectedEOF), errors.Is(got, io.ErrUnexpectedEOF))
				if status, ok := errors.AsType[*lw.StatusError](got); ok {
					require.Equal(t, gone, status)
				}
			}
		}
	})
}

// TestUnrecordedRequestsFail checks that the error of an unrecorded request differs from ErrEnd.
func TestUnrecordedRequestsFail(t *testing.T) {
	w, out := begin(t)
	_, _ = record(t, w, listOf("/a"), &scriptedTransport{})
	_, _ = record(t, w, watchOf("/a"), &scriptedTransport{})
	require.NoError(t, w.Close())
	view := load(t, out.String()).Play(0).Discovery()
	_, err := view.Open(t.Context(), listOf("/b"))
	require.EqualError(t, err, "the recording contains no requests for /b, only for /a")
	require.True(t, Over(err))
	_, err = view.Open(t.Context(), &lw.Request{Path: "/a", Query: "labelSelector=x"})
	require.ErrorContains(t, err, "contains no requests for /a?labelSelector=x")
	_, err = view.Open(t.Context(), watchOf("/a"))
	require.EqualError(t, err, "line 2 of the recording is a list, but lwcat requested a watch of /a")
	other := &lw.Request{Path: "/a", Query: "limit=1&resourceVersion=77&continue=abc"}
	_, err = view.Open(t.Context(), other)
	require.NoError(t, err, "a request may differ from the recorded request in its resourceVersion and continue token")
	_, err = view.Open(t.Context(), watchOf("/a"))
	require.NoError(t, err)
	_, err = view.Open(t.Context(), watchOf("/a"))
	require.Equal(t, ErrEnd, err)
	require.True(t, Over(err))
}

// TestRecordedCloseEndsReplay checks that a recorded close ends the last request of a replay.
func TestRecordedCloseEndsReplay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, out := begin(t)
		for range 2 {
			body, err := w.Transport(&scriptedTransport{}).Open(t.Context(), watchOf("/a"))
			require.NoError(t, err)
			require.NoError(t, body.Close())
		}
		ctx, cancel := context.WithCancelCause(t.Context())
		body, err := w.Transport(&scriptedTransport{}).Open(ctx, watchOf("/a"))
		require.NoError(t, err)
		cancel(errors.New("^C"))
		_, err = body.Read(make([]byte, 9))
		require.EqualError(t, err, "^C")
		require.NoError(t, w.Close())
		view := load(t, out.String()).Play(0).Discovery()
		for _, want := range []error{errRecordedClose, errRecordedClose, ErrEnd} {
			body, err := view.Open(t.Context(), watchOf("/a"))
			require.NoError(t, err)
			_, err = body.Read(make([]byte, 9))
			require.Equal(t, want, err)
		}
	})
}

// TestReplayKeepsOrderOfCollections checks the order of events across collections in a replay without delays.
func TestReplayKeepsOrderOfCollections(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, out := begin(t)
		done := make(chan struct{})
		for _, path := range []string{"/a", "/b"} {
			says := []timedText{}
			for range 20 {
				says = append(says, timedText{time.Duration(len(says)%3+len(path)) * time.Millisecond, event})
			}
			wait := time.Duration(path[1]-'a') * time.Millisecond / 2
			go func() {
				_, _ = record(t, w, watchOf(path), &scriptedTransport{after: wait, says: says})
				done <- struct{}{}
			}()
		}
		<-done
		<-done
		require.NoError(t, w.Close())
		player := load(t, out.String()).Play(0)
		views := map[string]*Playback{"/a": player.Collection(), "/b": player.Collection()}
		times := make(chan time.Time, 100)
		for path, view := range views {
			go func() {
				body, _ := view.Open(t.Context(), watchOf(path))
				for buffer := make([]byte, 1000); ; {
					if _, err := body.Read(buffer); err != nil {
						view.Close()
						done <- struct{}{}
						return
					}
					times <- view.Now()
				}
			}()
		}
		<-done
		<-done
		close(times)
		last := time.Time{}
		for now := range times {
			require.False(t, now.Before(last))
			last = now
		}
	})
}

// TestReportsFullDisk checks that a write error is reported at once, and that the recording contains the entries before
// the error.
func TestReportsFullDisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out, failed := &memoryFile{capacity: 1000}, error(nil)
		w := NewWriter(out, func(err error) { failed = err })
		_, _ = record(t, w, watchOf("/x"), &scriptedTransport{says: []timedText{{0, event}, {2 * time.Second, event}, {2 * time.Second, event}, {2 * time.Second, strings.Repeat(event, 20)}, {time.Hour, event}}})
		require.Equal(t, errDiskFull, failed)
		require.ErrorIs(t, w.Close(), errDiskFull)
		r, err := Read(bytes.NewReader([]byte(out.String())))
		require.NoError(t, err)
		require.EqualError(t, r.Broken, "line 7 of the recording: the line is incomplete")
		require.Len(t, r.streams[0].data, 3)
	})
}

// TestFilePermissions checks that a recording is private and never overwrites a file.
func TestFilePermissions(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run")
	fail := func(err error) { t.Error(err) }
	require.NoError(t, os.WriteFile(path, []byte("precious"), 0o644))
	_, err := Create(path, fail)
	require.ErrorContains(t, err, "already exists")
	require.NoError(t, os.Remove(path))
	w, err := Create(path, fail)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode())
	r, err := Open(path)
	require.NoError(t, err)
	require.NoError(t, r.Broken)
	require.NoError(t, r.Close())
	if _, err := os.Stat("/dev/full"); err == nil {
		_, err = Create("/dev/full", func(error) {})
		require.ErrorContains(t, err, "no space left")
	}
}
