package harness

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// Programs are compiled programs in a temporary folder.
type Programs struct{ folder string }

// Build runs go build with the arguments, in the current folder. The caller must call Remove.
func Build(ctx context.Context, args ...string) (*Programs, error) {
	folder, err := os.MkdirTemp("", "bench")
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, "go", append([]string{"build", "-o", folder + string(filepath.Separator)}, args...)...)
	if output, err := cmd.CombinedOutput(); err != nil {
		_ = os.RemoveAll(folder)
		return nil, fmt.Errorf("%v, which must run in the folder bench: %w\n%s", cmd.Args, err, output)
	}
	return &Programs{folder}, nil
}

// Path returns the path of the program with that name.
func (p *Programs) Path(name string) string { return filepath.Join(p.folder, name) }

// Remove removes the programs.
func (p *Programs) Remove() { _ = os.RemoveAll(p.folder) }
