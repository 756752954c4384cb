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

// lwcatName is the name of the client that runs lwcat in a process.
const lwcatName = "lwcat"

// buildLwcat builds lwcat into a folder and returns its path. It builds in lwcat's module, because the module of the
// benchmarks lacks lwcat's dependencies.
func buildLwcat(ctx context.Context, folder string) (path string, err error) {
	module, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}", "github.com/seed-6d2a410a/listwatch").Output()
	if err != nil {
		return "", fmt.Errorf("locating the module of lwcat: %w", err)
	}
	path = filepath.Join(folder, "lwcat")
	build := exec.CommandContext(ctx, "go", "build", "-C", strings.TrimSpace(string(module)), "-o", path, "./cmd/lwcat")
	if output, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building lwcat: %w\n%s", err, output)
	}
	return path, nil
}

// startLwcat starts lwcat and waits until it has printed all objects. lwcat stops when ctx ends. A delay includes the time
// until this process has read the printed line.
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
		_ = cmd.Wait() // ctx kills lwcat. A missing write reports an earlier exit.
	})
	select {
	case err := <-synced:
		return err
	case <-time.After(maxWait):
		return fmt.Errorf("lwcat did not print %d objects in %v", objects, maxWait)
	}
}

// readEvents reads the events that lwcat prints. It sends an error, or nil after the first list, to synced.
func (c *client) readEvents(out io.Reader, synced chan<- error) {
	lines := bufio.NewReader(out)
	for n := 1; ; n++ {
		line, err := lines.ReadString('\n')
		now := time.Now()
		var ns int64
		if err == nil {
			ns, err = strconv.ParseInt(lw.Value(line).Get("object.metadata.annotations."+writtenAt).String(), 10, 64)
		}
		if err != nil && n <= objects {
			synced <- fmt.Errorf("reading the events of lwcat: %w", err)
		}
		if err != nil {
			return
		}
		c.changes.saw(lw.Value(line).Get("object.metadata.name").String(), time.Unix(0, ns), now)
		if n == objects {
			synced <- nil
		}
	}
}

// readMessages records an outage from lwcat's message about an interruption to its message about the next watch.
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
