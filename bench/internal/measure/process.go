package measure

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
)

// Process is this program in another role, which it learns from its arguments.
func Process(ctx context.Context, args ...string) *exec.Cmd {
	path, err := os.Executable()
	Must(err)
	return program(ctx, path, args...)
}

func program(ctx context.Context, path string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Stderr = os.Stderr
	return cmd
}

// Apart carries out a task in a process of its own, which therefore has its own heap, collector and processor time: there,
// the same program's main calls Worker with the same role.
func Apart(ctx context.Context, role string, task, result any) error {
	path, err := os.Executable()
	Must(err)
	return ApartBy(ctx, path, role, task, result)
}

// ApartBy carries out a task in a process of another program, whose main calls Worker.
func ApartBy(ctx context.Context, path, role string, task, result any) error {
	given, err := json.Marshal(task)
	if err != nil {
		return err
	}
	said, err := program(ctx, path, role, string(given)).Output()
	if err != nil {
		return fmt.Errorf("%s %s: %w", role, given, err)
	}
	return json.Unmarshal(said, result)
}

// Worker carries out a task and tells what came of it, if that is this process's role.
func Worker[T, R any](role string, do func(T) R) (worked bool) {
	if len(os.Args) != 3 || os.Args[1] != role {
		return false
	}
	var task T
	Must(json.Unmarshal([]byte(os.Args[2]), &task))
	Say(do(task))
	return true
}

// Partner is this program in another role, which this process talks with over pipes, in JSON. It ends with this process,
// however that ends.
type Partner struct {
	cmd  *exec.Cmd
	stop context.CancelFunc
	in   *json.Encoder
	out  *json.Decoder
}

// Start starts a partner, which calls Converse with what it is asked.
func Start(ctx context.Context, args ...string) (*Partner, error) {
	ctx, stop := context.WithCancel(ctx)
	cmd := Process(ctx, args...)
	in, badInput := cmd.StdinPipe()
	out, badOutput := cmd.StdoutPipe()
	if err := errors.Join(badInput, badOutput, cmd.Start()); err != nil {
		stop()
		return nil, err
	}
	return &Partner{cmd, stop, json.NewEncoder(in), json.NewDecoder(out)}, nil
}

// Hear reads what the partner says next.
func (p *Partner) Hear(answer any) error {
	if err := p.out.Decode(answer); err != nil {
		return fmt.Errorf("%s does not answer: %w", p.cmd.Args[1], err)
	}
	return nil
}

// Ask tells the partner something, and hears what it says to that.
func (p *Partner) Ask(question, answer any) error {
	if err := p.in.Encode(question); err != nil {
		return fmt.Errorf("%s is not there: %w", p.cmd.Args[1], err)
	}
	return p.Hear(answer)
}

// Close ends the partner.
func (p *Partner) Close() {
	p.stop()
	_ = p.cmd.Wait() // it was killed
}

// Say tells whoever started this process something.
func Say(what any) { Must(json.NewEncoder(os.Stdout).Encode(what)) }

// Converse answers what this process is asked, until whoever started it has gone.
func Converse[Q any](answer func(Q) any) {
	for in := json.NewDecoder(os.Stdin); ; {
		var question Q
		if in.Decode(&question) != nil {
			return
		}
		Say(answer(question))
	}
}
