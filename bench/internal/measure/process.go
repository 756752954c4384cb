package measure

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
)

// Process is this program in another role, which it learns from its arguments.
func Process(ctx context.Context, args ...string) *exec.Cmd {
	path, err := os.Executable()
	Must(err)
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Stderr = os.Stderr
	return cmd
}

// Apart carries out a task in a process of its own, which therefore has its own heap, collector and processor time: there,
// the same program's main calls Worker with the same role.
func Apart(ctx context.Context, role string, task, result any) error {
	given, err := json.Marshal(task)
	if err != nil {
		return err
	}
	said, err := Process(ctx, role, string(given)).Output()
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
	Must(json.NewEncoder(os.Stdout).Encode(do(task)))
	return true
}
