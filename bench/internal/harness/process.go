package harness

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// Role is a function that a benchmark runs in a separate process, whose CPU time and memory can be measured separately.
// The process has two command-line arguments: the role's name, and the JSON that the role receives.
type Role struct {
	name string
	run  func(argument []byte) // the argument is the JSON of a task or a config
}

// Worker returns a role that calls do with the task passed to [Run] and reports the result as JSON on stdout.
func Worker[T, R any](name string, do func(T) R) Role {
	return Role{name, func(argument []byte) {
		var task T
		Must(json.Unmarshal(argument, &task))
		Must(json.NewEncoder(os.Stdout).Encode(do(task)))
	}}
}

// Server returns a role that calls start with the config passed to [Serve] and reports the address. The process exits
// with its parent.
func Server[T, A any](name string, start func(T) A) Role {
	return Role{name, func(argument []byte) {
		Worker(name, start).run(argument)
		_, _ = os.Stdin.Read(make([]byte, 1)) // returns when the parent process closes the pipe or exits
	}}
}

// Work runs the role for which this process was started. It returns false if the process was started without a
// role.
func Work(roles ...Role) bool {
	if len(os.Args) != 3 {
		return false
	}
	for _, role := range roles {
		if role.name == os.Args[1] {
			role.run([]byte(os.Args[2]))
			return true
		}
	}
	return false
}

// Run runs a task in a new process of this program and decodes the reported value into result.
func Run(ctx context.Context, role string, task, result any) error {
	return RunProgram(ctx, MustGet(os.Executable()), role, task, result)
}

// RunProgram is like [Run], but runs the program at path. The main function of this program must call [Work].
func RunProgram(ctx context.Context, path, role string, task, result any) error {
	output, err := command(ctx, path, role, task).Output()
	if err != nil {
		return fmt.Errorf("%s %+v: %w", role, task, err)
	}
	return json.Unmarshal(output, result)
}

// Serve starts a server in a new process of this program and decodes its address into address. stop ends that
// process.
func Serve(ctx context.Context, role string, config, address any) (stop func(), err error) {
	cmd := command(ctx, MustGet(os.Executable()), role, config)
	input, badInput := cmd.StdinPipe()
	output, badOutput := cmd.StdoutPipe()
	if err := errors.Join(badInput, badOutput, cmd.Start()); err != nil {
		return nil, err
	}
	stop = func() {
		_ = input.Close() // the server exits when this pipe is closed
		_ = cmd.Wait()
	}
	if err := json.NewDecoder(output).Decode(address); err != nil {
		stop()
		return nil, fmt.Errorf("%s did not report an address: %w", role, err)
	}
	return stop, nil
}

// command returns a command that starts the program at path in a role.
func command(ctx context.Context, path, role string, argument any) *exec.Cmd {
	cmd := exec.CommandContext(ctx, path, role, string(MustGet(json.Marshal(argument))))
	cmd.Stderr = os.Stderr
	return cmd
}

// Build runs go build with args in the current folder. It returns the temporary folder that contains the programs. The
// caller must delete this folder.
func Build(ctx context.Context, args ...string) (folder string, err error) {
	if folder, err = os.MkdirTemp("", "bench"); err != nil {
		return "", err
	}
	// Because the path ends with a separator, go build writes each program into the folder under its own name.
	cmd := exec.CommandContext(ctx, "go", append([]string{"build", "-o", folder + string(filepath.Separator)}, args...)...)
	if output, err := cmd.CombinedOutput(); err != nil {
		_ = os.RemoveAll(folder)
		return "", fmt.Errorf("%v failed (the working directory must be bench): %w\n%s", cmd.Args, err, output)
	}
	return folder, nil
}
