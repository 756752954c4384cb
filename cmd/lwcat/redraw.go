package main

import (
	"context"
	"io"
	"os"
	"strings"
	"time"

	"github.com/seed-6d2a410a/listwatch/cmd/lwcat/internal/output"
)

// redrawing draws what there is in place, on a terminal's other screen, until it is ended.
type redrawing struct {
	out     *printer
	screen  *output.Screen
	size    func() (width, height int)
	drawing chan struct{} // closed when the last was drawn
}

// What a terminal is told. The other screen is one without a past; leaving it brings back what was there before.
const (
	otherScreen = "\x1b[?1049h\x1b[?25l"
	mainScreen  = "\x1b[?25h\x1b[?1049l"
	home        = "\x1b[H"
	eraseLine   = "\x1b[K"
	eraseBelow  = "\x1b[J"
)

// redraw begins to draw, if --redraw says so and stdout is a terminal. Its end is to be called before anything else is printed.
func redraw(c *config, out *printer, stdout io.Writer, status *status) (end func()) {
	if c.how.screen == nil {
		return func() {}
	}
	file, ok := stdout.(*os.File)
	if ok {
		_, _, ok = terminalSize(file)
	}
	if !ok {
		status.say("--redraw needs a terminal: events are printed instead, each as it comes")
		return func() {}
	}
	r := &redrawing{out: out, screen: c.how.screen, drawing: make(chan struct{}), size: func() (int, int) {
		width, height, _ := terminalSize(file)
		if width == 0 || height == 0 {
			return 80, 24
		}
		return width, height
	}}
	ctx, stop := context.WithCancel(context.Background())
	out.format = r.screen
	restore := status.divert(r)
	go r.run(ctx)
	return func() {
		stop()
		<-r.drawing
		restore()
	}
}

// Write takes messages that were meant for standard error.
func (r *redrawing) Write(message []byte) (int, error) {
	r.screen.Tell(string(message))
	return len(message), nil
}

// run draws several times a second, as what has changed is marked for a while, and ages grow.
func (r *redrawing) run(ctx context.Context) {
	defer close(r.drawing)
	tick := time.NewTicker(time.Second / 5)
	defer tick.Stop()
	r.write(otherScreen)
	for last := ""; ; {
		text := r.text()
		if ctx.Err() != nil {
			r.write(mainScreen + text + "\n") // the last state stays, beneath what was there before
			return
		}
		if text != last {
			r.write(home + text + eraseBelow)
			last = text
		}
		select {
		case <-ctx.Done():
		case <-tick.C:
		}
	}
}

func (r *redrawing) text() string {
	width, height := r.size()
	return strings.Join(r.screen.Lines(time.Now(), width, height), eraseLine+"\n") + eraseLine
}

func (r *redrawing) write(text string) {
	r.out.mu.Lock()
	defer r.out.mu.Unlock()
	r.out.out.WriteString(text)
	_ = r.out.out.Flush() // a terminal that is gone sends a signal
}
