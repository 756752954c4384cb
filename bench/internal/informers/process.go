package informers

import (
	"context"
	"fmt"
	"os"
	"syscall"

	"github.com/seed-6d2a410a/listwatch/bench/internal/measure"
)

// Measure carries out a task in a process of its own, against a server in another. Both are this program, whose main calls
// Worker first.
func Measure(ctx context.Context, t Task) (r Result, err error) {
	server, err := measure.Start(ctx, "server", t.Transport)
	if err != nil {
		return r, err
	}
	defer server.Close()
	if err := server.Hear(&t.Server); err != nil {
		return r, err
	}
	return r, measure.Apart(ctx, "client", t, &r)
}

// Worker serves, or measures, if that is this process's role.
func Worker() (worked bool) {
	if len(os.Args) == 3 && os.Args[1] == "server" {
		serve(os.Args[2])
		return true
	}
	return measure.Worker("client", run)
}

// Room says whether there are files enough for so many watches: every connection is one.
func Room(watches int) error {
	var files syscall.Rlimit // Go has raised it as far as it may
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &files); err != nil {
		return err
	}
	if needed := uint64(watches) + 100; files.Cur < needed {
		return fmt.Errorf("%d watches need %d open files, of which a process may have %d here: raise ulimit -Hn", watches, needed, files.Cur)
	}
	return nil
}
