package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/seed-6d2a410a/listwatch/lw"
)

// lwcatName is the name of the client that runs lwcat in a separate process.
const lwcatName = "lwcat"

// buildLwcat builds lwcat in folder and returns the path of the binary. It builds in the main module, because the
// benchmark module lacks lwcat's dependencies.
func buildLwcat(ctx context.Context, folder string) (path string, err error) {
	module, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}", "github.com/seed-6d2a410a/listwatch").Output()
	if err != nil {
		return "", fmt.Errorf("locating lwcat's module: %w", err)
	}
	path = filepath.Join(folder, "lwcat")
	build := exec.CommandContext(ctx, "go", "build", "-C", strings.TrimSpace(string(module)), "-o", path, "./cmd/lwcat")
	if output, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building lwcat: %w\n%s", err, output)
	}
	return path, nil
}

// startLwcat starts lwcat and waits until it has printed all objects. lwcat is killed when ctx is done. A delay ends
// when this process has read the printed line.
func (c *client) startLwcat(ctx context.Context, program, server string, running *sync.WaitGroup) error {
	cmd := exec.CommandContext(ctx, program, "-s", server, "-n", "flap", "pods")
	cmd.Env = append(os.Environ(), "KUBECONFIG="+os.DevNull)
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	messages, err := cmd.StderrPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	synced := make(chan error, 1)
	running.Go(func() {
		var reading sync.WaitGroup
		reading.Go(func() { c.outages.readMessages(messages) })
		c.readEvents(out, synced)
		reading.Wait()
		_ = cmd.Wait() // ctx kills lwcat; drain reports the missing writes if lwcat exits earlier
	})
	select {
	case err := <-synced:
		return err
	case <-time.After(maxWait):
		return fmt.Errorf("lwcat did not print %d objects within %v", objects, maxWait)
	}
}

// readEvents records the printed events. It sends nil to synced after the first list, or an error if lwcat exits
// earlier.
func (c *client) readEvents(out io.Reader, synced chan<- error) {
	lines := bufio.NewReader(out)
	for n := 1; ; n++ {
		line, err := lines.ReadString('\n')
		now := time.Now()
		var event lw.Value
		if err == nil {
			event, err = lw.ParseValue([]byte(line))
		}
		var ns int64
		if err == nil {
			ns, err = strconv.ParseInt(event.Get("object.metadata.annotations."+writtenAt).String(), 10, 64)
		}
		if err != nil && n <= objects {
			synced <- fmt.Errorf("reading events from lwcat: %w", err)
		}
		if err != nil {
			return
		}
		c.changes.saw(event.Get("object.metadata.name").String(), time.Unix(0, ns), now)
		if n == objects {
			synced <- nil
		}
	}
}

// readMessages begins an outage at each message about an interruption, and ends it at the message about the next watch.
func (o *outages) readMessages(messages io.Reader) {
	for lines := bufio.NewScanner(messages); lines.Scan(); {
		switch line := lines.Text(); {
		case strings.Contains(line, ": watching from resourceVersion "):
			o.end(time.Now())
		case strings.Contains(line, "; resuming from resourceVersion "), strings.Contains(line, "; relisting"):
			o.begin(time.Now())
		}
	}
}
