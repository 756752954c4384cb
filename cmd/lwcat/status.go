package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"

	"github.com/seed-6d2a410a/listwatch/cmd/lwcat/internal/output"
)

// status writes messages to standard error. On a terminal, it also shows a status line at the bottom.
type status struct {
	mu       sync.Mutex
	out      io.Writer
	terminal bool
	line     string
	logged   sync.Map // messages that logOnce has written
}

// logf writes a message. It escapes control characters and shortens the message, because servers supply parts of it.
func (s *status) logf(format string, args ...any) {
	text := output.Plain(fmt.Sprintf(format, args...))
	if len(text) > maxMessage {
		text = strings.ToValidUTF8(text[:maxMessage], "") + "…"
	}
	s.withoutLine(func() { fmt.Fprintln(s.out, "lwcat: "+text) })
}

const maxMessage = 4000 // in bytes

// logRedirect logs each redirect to another origin once.
func (s *status) logRedirect(origin string) {
	s.logOnce("the server redirects to %s; no credentials are sent there", origin)
}

// logOnce writes a message unless it has already written the same message.
func (s *status) logOnce(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if _, seen := s.logged.LoadOrStore(text, true); !seen {
		s.logf("%s", text)
	}
}

// setLine replaces the status line. An empty line removes it.
func (s *status) setLine(line string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	line = s.truncate(line)
	if s.terminal && line != s.line {
		s.line = line
		fmt.Fprint(s.out, erase+line)
	}
}

// truncate shortens a line to the width of the terminal, because a wrapped line could not be erased.
func (s *status) truncate(line string) string {
	file, ok := s.out.(*os.File)
	if !ok {
		return line
	}
	if width := terminalWidth(file); width > 0 && len(line) >= width {
		return line[:width-1] // the line is ASCII
	}
	return line
}

// withoutLine runs write while the status line is erased.
func (s *status) withoutLine(write func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.line != "" {
		fmt.Fprint(s.out, erase)
	}
	write()
	if s.line != "" {
		fmt.Fprint(s.out, s.line)
	}
}

const erase = "\r\x1b[K"
