//go:build !js

package ws

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed-6d2a410a/listwatch/internal/testkit/memory"
	"github.com/seed-6d2a410a/listwatch/lw"
	"github.com/stretchr/testify/require"
)

func TestHostileFrames(t *testing.T) {
	one, normal := frame(0x81, "one"), frame(0x88, "\x03\xe8")
	large := lw.ErrTooLarge
	broken := func(words string) error { return fmt.Errorf("%w: %s", errProtocol, words) }
	for name, c := range map[string]struct {
		sent, text string
		want       error
	}{
		"message of 2^63-1 bytes":                     {one + "\x81\x7f\x7f\xff\xff\xff\xff\xff\xff\xff", "one", large},
		"message of 2^64-1 bytes":                     {one + "\x81\x7f\xff\xff\xff\xff\xff\xff\xff\xff", "one", large},
		"continuation frame of 2^63-1 bytes":          {frame(0x01, "one") + "\x80\x7f\x7f\xff\xff\xff\xff\xff\xff\xff", "one", large},
		"endless fragments":                           {strings.Replace(strings.Repeat(frame(0x00, "ten bytes!"), 11), "\x00", "\x01", 1), strings.Repeat("ten bytes!", 10), large},
		"unexpected continuation":                     {one + frame(0x80, "x"), "one", broken("continuation after FIN")},
		"interleaved messages":                        {frame(0x01, "one") + frame(0x81, "x"), "one", broken("data before FIN")},
		"masked frame":                                {one + "\x81\x81abcdx", "one", broken("bad MASK")},
		"reserved bits":                               {one + frame(0xf1, "x"), "one", broken("RSV1 set, RSV2 set, RSV3 set")},
		"reserved opcode":                             {one + frame(0x83, "x"), "one", broken("bad opcode 3")},
		"reserved control opcode":                     {one + frame(0x8b, "x"), "one", broken("bad opcode 11")},
		"ping of 126 bytes":                           {one + frame(0x89, strings.Repeat("x", 126)), "one", broken("len > 125 for control")},
		"fragmented ping":                             {one + frame(0x09, "x"), "one", broken("FIN not set on control")},
		"close frame with a truncated code":           {one + frame(0x88, "\x03"), "one", &closeError{Code: 1005}},
		"close frame with an invalid code":            {one + frame(0x88, "\x03\xed"), "one", broken("bad close code 1005")},
		"close frame with a reason that is not UTF-8": {one + frame(0x88, "\x03\xe8\xff"), "one", broken("invalid utf8 payload in close frame")},
		"close frame with the longest reason":         {one + frame(0x88, "\x03\xf3"+strings.Repeat("x", 123)), "one", &closeError{1011, strings.Repeat("x", 123)}},
		"close frame with a reason that is too long":  {one + frame(0x88, "\x03\xf3"+strings.Repeat("x", 124)), "one", broken("len > 125 for control")},
		"data after a close frame":                    {one + normal + frame(0x81, "x"), "one", nil},
		"HTTP response body":                          {"Hello\n", "", broken("RSV1 set, FIN not set on control")},
		"no data":                                     {"", "", io.ErrUnexpectedEOF},
	} {
		for _, eager := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/%v", name, eager), func(t *testing.T) {
				body, err := open(t.Context(), t, &scriptedConn{text: c.sent, step: 5000, eager: eager}, nil, 100)
				require.NoError(t, err)
				defer body.Close()
				text, err := io.ReadAll(body)
				require.Equal(t, c.want, err)
				require.Equal(t, c.text, string(text))
			})
		}
	}
}

// A TLS connection may return io.EOF together with the last bytes. Unless the server sent close code 1000, this must be
// an error.
func TestEndWithoutCloseFrameIsUnexpectedEOF(t *testing.T) {
	for _, sent := range []string{frame(0x81, strings.Repeat("x", 5000)), frame(0x01, strings.Repeat("x", 5000))} {
		body, err := open(t.Context(), t, &scriptedConn{text: sent, step: 1 << 20, eager: true}, nil, 1<<20)
		require.NoError(t, err)
		defer body.Close()
		text, buffer := 0, make([]byte, 1<<14) // larger than gorilla's buffer, so the read bypasses it
		for err == nil {
			var n int
			n, err = body.Read(buffer)
			text += n
		}
		require.Equal(t, io.ErrUnexpectedEOF, err)
		require.Equal(t, 5000, text)
	}
}

func TestFinalErrorIsRepeated(t *testing.T) {
	body, err := open(t.Context(), t, &scriptedConn{text: frame(0x83, ""), step: 100}, nil, 1<<20)
	require.NoError(t, err)
	defer body.Close()
	for range 2000 {
		_, err := body.Read(make([]byte, 1))
		require.ErrorIs(t, err, errProtocol)
	}
}

// endless is a fake connection that repeats the same bytes forever.
type endless struct {
	first, then string
	said        int
}

func (e *endless) Read(p []byte) (int, error) {
	n := copy(p, e.first)
	e.first = e.first[n:]
	for n+len(e.then) <= len(p) {
		n += copy(p[n:], e.then)
	}
	e.said += n
	return n, nil
}

func (e *endless) Write(p []byte) (int, error) { return len(p), nil }
func (e *endless) Close() error                { return nil }

// Endless empty frames must not use up memory. Empty frames do not end the watch, so only the context or the reader's
// idle timeout can end it.
func TestEndlessFrames(t *testing.T) {
	const maxBytes = 1 << 20
	for name, conn := range map[string]*endless{
		"pings":           {then: frame(0x89, strings.Repeat("x", 125))},
		"pongs":           {then: frame(0x8a, strings.Repeat("x", 125))},
		"empty messages":  {then: frame(0x81, "")},
		"empty fragments": {first: frame(0x01, ""), then: frame(0x00, "")},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			enough := errors.New("enough")
			to := &counted{endless: conn, maxBytes: maxBytes, then: func() { cancel(enough) }}
			body, err := open(ctx, t, to, nil, 1<<20)
			require.NoError(t, err)
			defer body.Close()
			newlines, err := io.Copy(io.Discard, body)
			require.Equal(t, enough, err)
			if name != "empty messages" {
				require.Zero(t, newlines)
			}
			require.GreaterOrEqual(t, conn.said, maxBytes)
			require.Less(t, to.grown, int64(256<<10), "heap growth in bytes after %d bytes of frames", maxBytes)
		})
	}
}

// counted is an endless connection that fails after maxBytes bytes. It measures the heap growth after the first tenth
// of these bytes.
type counted struct {
	*endless
	maxBytes int
	then     func()
	before   uint64
	grown    int64
	ended    bool
}

func (c *counted) Read(p []byte) (int, error) {
	if c.before == 0 && c.said >= c.maxBytes/10 {
		c.before = memory.Held()
	}
	if c.said >= c.maxBytes && !c.ended {
		c.ended = true
		c.grown = int64(memory.Held()) - int64(c.before)
		c.then()
	}
	if c.ended {
		return 0, net.ErrClosed
	}
	return c.endless.Read(p)
}

func TestBlockedPeer(t *testing.T) {
	for name, c := range map[string]struct {
		sent string
		want time.Duration
	}{
		"unread pongs":     {strings.Repeat(frame(0x89, "are you there?"), 1000), 15 * time.Second},
		"unanswered pings": {frame(0x81, "one"), 45 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				client, remote := net.Pipe()
				defer remote.Close()
				go func() { _, _ = io.WriteString(remote, c.sent) }()
				body, err := open(t.Context(), t, client, nil, 1<<20)
				require.NoError(t, err)
				defer body.Close()
				began := time.Now()
				_, err = io.ReadAll(body)
				require.Equal(t, lw.ErrSilent, err)
				require.Equal(t, c.want, time.Since(began))
			})
		})
	}
}

// A peer that sends nothing but pongs is alive, so the watch must stay open while it answers pings.
func TestPongsKeepWatchOpen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, remote := net.Pipe()
		defer remote.Close()
		pings := make(chan int, 1)
		go func() { pings <- answerPings(remote) }()
		go func() {
			time.Sleep(10*time.Minute + time.Second)
			_, _ = io.WriteString(remote, frame(0x81, "alive")+frame(0x88, "\x03\xe8"))
		}()
		body, err := open(t.Context(), t, client, nil, 1<<20)
		require.NoError(t, err)
		text, err := io.ReadAll(body)
		require.NoError(t, err)
		require.Equal(t, "alive", string(text))
		require.NoError(t, body.Close())
		require.Equal(t, 20, <-pings, "the client must send a ping after every 30 seconds without data")
	})
}

// answerPings answers the pings of a client. When the client has disconnected, it returns their number.
func answerPings(conn net.Conn) (pings int) {
	for {
		header := make([]byte, 6) // opcode, length and mask
		if _, err := io.ReadFull(conn, header); err != nil {
			return pings
		}
		payload := make([]byte, header[1]&0x7f)
		if _, err := io.ReadFull(conn, payload); err != nil {
			return pings
		}
		for i := range payload {
			payload[i] ^= header[2+i%4]
		}
		if header[0] == 0x89 {
			pings++
			_, _ = io.WriteString(conn, frame(0x8a, string(payload)))
		}
	}
}
