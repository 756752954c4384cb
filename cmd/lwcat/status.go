package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"

	"github.com/seed-6d2a410a/listwatch/cmd/lwcat/internal/output"
)

// status is standard error: messages, and on a terminal a line at the bottom that changes in place.
type status struct {
	mu       sync.Mutex
	out      io.Writer
	terminal bool
	line     string
	sentOn   sync.Map // the origins that redirects were told to lead to
}

// say writes a message. What servers say is a part of many, and must neither control the terminal nor look like a message.
func (s *status) say(format string, args ...any) {
	text := output.Plain(fmt.Sprintf(format, args...))
	if len(text) > mostInMessage {
		text = strings.ToValidUTF8(text[:mostInMessage], "") + "…"
	}
	s.around(func() { fmt.Fprintln(s.out, "lwcat: "+text) })
}

const mostInMessage = 4000 // bytes

// redirected tells, once, that the server sends requests on to another origin.
func (s *status) redirected(origin string) {
	if _, told := s.sentOn.LoadOrStore(origin, true); !told {
		s.say("the server sends on to %s, which gets no credentials", origin)
	}
}

// show puts a text in place of the line at the bottom; "" removes it.
func (s *status) show(line string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if line = s.fit(line); s.terminal && line != s.line {
		s.line = line
		fmt.Fprint(s.out, erase+line)
	}
}

// fit cuts a line off where the terminal ends: one that went on in the next row could not be removed.
func (s *status) fit(line string) string {
	file, ok := s.out.(*os.File)
	if !ok {
		return line
	}
	if width, _, _ := terminalSize(file); width > 0 && len(line) >= width {
		return line[:width-1] // it is ASCII
	}
	return line
}

// around writes something else, which may go to the same terminal: the line at the bottom makes room for it.
func (s *status) around(write func()) {
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

// divert sends messages elsewhere, if they would go to a terminal, and shows no line at its bottom.
func (s *status) divert(to io.Writer) (restore func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.terminal {
		return func() {}
	}
	out := s.out
	s.out, s.terminal = to, false
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.out, s.terminal = out, true
	}
}

const erase = "\r\x1b[K"
