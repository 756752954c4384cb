package measure

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// Built are the programs of some packages of this module, each of which has nothing in it of the others.
type Built struct{ folder string }

// Build compiles the packages, as "./list/listwatch" in the module's folder, with the flags that come before them.
func Build(ctx context.Context, args ...string) (*Built, error) {
	folder, err := os.MkdirTemp("", "bench")
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, "go", append([]string{"build", "-o", folder + string(filepath.Separator)}, args...)...)
	if said, err := cmd.CombinedOutput(); err != nil {
		_ = os.RemoveAll(folder)
		return nil, fmt.Errorf("%v (in the folder bench?): %w\n%s", cmd.Args, err, said)
	}
	return &Built{folder}, nil
}

// Path is where the program of that name is.
func (b *Built) Path(name string) string { return filepath.Join(b.folder, name) }

// Remove removes the programs.
func (b *Built) Remove() { _ = os.RemoveAll(b.folder) }
