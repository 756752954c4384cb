package main

import (
	"context"
	"io"
	"os"
	"strings"
	"time"

	"github.com/seed-6d2a410a/listwatch/cmd/lwcat/internal/output"
)

// screenLoop redraws the terminal's alternate screen.
type screenLoop struct {
	out     *printer
	screen  *output.Screen
	size    func() (width, height int)
	stopped chan struct{} // closed after the last redraw
}

// Terminal control sequences. The alternate screen has no scrollback, and leaving it restores the previous content.
const (
	alternateScreen = "\x1b[?1049h\x1b[?25l"
	mainScreen      = "\x1b[?25h\x1b[?1049l"
	home            = "\x1b[H"
	eraseLine       = "\x1b[K"
	eraseBelow      = "\x1b[J"
)

// startRedraw starts the loop of --redraw if stdout is a terminal. The caller stops it before printing anything else.
func startRedraw(c *config, out *printer, stdout io.Writer, status *status) (end func()) {
	if c.output.screen == nil {
		return func() {}
	}
	file, ok := stdout.(*os.File)
	if ok {
		_, _, ok = terminalSize(file)
	}
	if !ok {
		status.logf("--redraw needs a terminal: printing events instead")
		return func() {}
	}
	l := &screenLoop{out: out, screen: c.output.screen, stopped: make(chan struct{}), size: func() (int, int) {
		width, height, _ := terminalSize(file)
		if width == 0 || height == 0 {
			return 80, 24
		}
		return width, height
	}}
	ctx, stop := context.WithCancel(context.Background())
	out.format = l.screen
	restore := status.redirect(l)
	go l.run(ctx)
	return func() {
		stop()
		<-l.stopped
		restore()
	}
}

// Write shows a message for standard error on the screen.
func (l *screenLoop) Write(message []byte) (int, error) {
	l.screen.Tell(string(message))
	return len(message), nil
}

// run redraws the screen five times a second because ages and marks change with time.
func (l *screenLoop) run(ctx context.Context) {
	defer close(l.stopped)
	tick := time.NewTicker(time.Second / 5)
	defer tick.Stop()
	l.write(alternateScreen)
	for last := ""; ; {
		text := l.render()
		if ctx.Err() != nil {
			l.write(mainScreen + text + "\n") // keeps the last state visible after lwcat exits
			return
		}
		if text != last {
			l.write(home + text + eraseBelow)
			last = text
		}
		select {
		case <-ctx.Done():
		case <-tick.C:
		}
	}
}

func (l *screenLoop) render() string {
	width, height := l.size()
	return strings.Join(l.screen.Lines(time.Now(), width, height), eraseLine+"\n") + eraseLine
}

func (l *screenLoop) write(text string) {
	l.out.mu.Lock()
	defer l.out.mu.Unlock()
	l.out.out.WriteString(text)
	_ = l.out.out.Flush() // a closed terminal sends SIGHUP
}
