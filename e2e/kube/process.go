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
	name   string
	log    string // path of the log file
	cmd    *exec.Cmd
	stdin  io.Closer       // stays open while this process lives; its end makes the child process exit
	exited context.Context // done after the process has exited; the cause contains the end of the log
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
	p := &process{name: args[0], log: log}
	p.cmd = exec.Command(filepath.Join(folder, "kube"), append([]string{"--stop-at-eof"}, args...)...)
	p.cmd.Stdout, p.cmd.Stderr = file, file
	if p.stdin, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting %s: %w", p.name, err)
	}
	exited, exit := context.WithCancelCause(context.Background())
	p.exited = exited
	go func() { exit(p.exitError(p.cmd.Wait())) }()
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
	<-p.exited.Done()
}

// wait blocks until the process has exited. It returns an error if ctx is done first.
func (p *process) wait(ctx context.Context) error {
	select {
	case <-p.exited.Done():
		return nil
	case <-ctx.Done():
		return fmt.Errorf("waiting for %s to exit: %w", p.name, context.Cause(ctx))
	}
}

// whileRunning returns a context that is canceled when ctx is done or the process exits. If the process exits first,
// the cause contains the end of the log.
func (p *process) whileRunning(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(p.exited, func() { cancel(context.Cause(p.exited)) })
	return ctx, func() { stop(); cancel(nil) }
}

// exitError returns an error that contains the end of the log. The error matches errPortTaken if another process has
// taken the port.
func (p *process) exitError(result error) error {
	end := tail(p.log)
	if strings.Contains(end, "address already in use") {
		return fmt.Errorf("%s: %w", p.name, errPortTaken)
	}
	return fmt.Errorf("%s exited (%v), end of its log:\n%s", p.name, result, end)
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
