package kube

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
)

// tailBytes limits how many bytes of a log an error message contains.
const tailBytes = 8 << 10

// process is a child process that exits when its parent exits. Its methods may be called concurrently.
type process struct {
	name  string
	log   string // path of the log file
	cmd   *exec.Cmd
	stdin io.Closer     // closing it makes the child process exit
	done  chan struct{} // closed after the process has exited and err is set
	err   error
}

// startProcess starts the program kube from folder and appends its output to the log file. The first element of args is
// the subcommand.
func startProcess(folder, log string, args ...string) (*process, error) {
	file, err := os.OpenFile(log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	// The child process has its own copy of the file descriptor.
	defer func() { _ = file.Close() }()
	p := &process{name: args[0], log: log, done: make(chan struct{})}
	p.cmd = exec.Command(filepath.Join(folder, "kube"), append([]string{"--stop-at-eof"}, args...)...)
	p.cmd.Stdout, p.cmd.Stderr = file, file
	if p.stdin, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting %s: %w", p.name, err)
	}
	go func() {
		p.err = p.cmd.Wait()
		close(p.done)
	}()
	return p, nil
}

// signal sends s to the process. It returns nil if the process has already exited.
func (p *process) signal(s os.Signal) error {
	if err := p.cmd.Process.Signal(s); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("sending %v to %s: %w", s, p.name, err)
	}
	return nil
}

// kill sends SIGKILL and waits until the process has exited.
func (p *process) kill() {
	_ = p.signal(syscall.SIGKILL)
	<-p.done
}

// wait blocks until the process has exited. It returns an error if ctx is done first.
func (p *process) wait(ctx context.Context) error {
	select {
	case <-p.done:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("waiting for %s to exit: %w", p.name, context.Cause(ctx))
	}
}

// whileRunning returns a context that is canceled when ctx is done or the process exits. If the process exits first,
// the cause is the result of exitError.
func (p *process) whileRunning(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	go func() {
		select {
		case <-p.done:
			cancel(p.exitError())
		case <-ctx.Done():
		}
	}()
	return ctx, func() { cancel(context.Canceled) }
}

// exitError returns an error that contains the end of the log. The error matches errPortTaken if another process has
// taken the port.
func (p *process) exitError() error {
	end := tail(p.log)
	if strings.Contains(end, "address already in use") {
		return fmt.Errorf("%s: %w", p.name, errPortTaken)
	}
	return fmt.Errorf("%s exited (%v), end of its log:\n%s", p.name, p.err, end)
}

// tail returns the last lines of a file, up to tailBytes bytes in total. If it cannot read the file, it returns the
// error message.
func tail(path string) string {
	data, err := os.ReadFile(path)
	if err != nil {
		return err.Error()
	}
	if len(data) > tailBytes {
		data = data[len(data)-tailBytes:]
		if _, whole, found := strings.Cut(string(data), "\n"); found {
			return whole
		}
	}
	return string(data)
}
