//go:build !js

package savefile

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/seed-6d2a410a/listwatch/cache"
	"github.com/seed-6d2a410a/listwatch/lw"
	"github.com/stretchr/testify/require"
)

const savesFor = "LISTWATCH_SAVES_TO" // environment variable with the path of the file that the killed process saves

// If a process is killed during a save, the file must remain complete. A later save must remove the temporary file of
// the killed process, because a process that crashes repeatedly would otherwise fill the disk.
func TestSaveSurvivesKill(t *testing.T) {
	if path := os.Getenv(savesFor); path != "" {
		saveLoop(path)
	}
	path := filepath.Join(t.TempDir(), "pods")
	want := map[string]bool{}
	for _, snapshot := range both(t) {
		want[text(snapshot)] = true
	}
	for saves := 1; saves < 15; saves++ {
		cmd := exec.Command(os.Args[0], "-test.run=^TestSaveSurvivesKill$")
		cmd.Env = append(os.Environ(), savesFor+"="+path)
		out, err := cmd.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, cmd.Start())
		lines := bufio.NewScanner(out)
		for n := 0; n <= saves && lines.Scan(); n++ { // reads one line more than saves, because the process prints a line before its first save
		}
		require.NoError(t, cmd.Process.Kill())
		require.Error(t, cmd.Wait())
		require.True(t, want[held(t, path)], "the file must hold a complete state after %d saves", saves)
	}
	long := time.Now().Add(-leftover - time.Minute)
	for _, name := range names(t, filepath.Dir(path)) {
		require.NoError(t, os.Chtimes(filepath.Join(filepath.Dir(path), name), long, long))
	}
	require.NoError(t, Save(path, pods(t, "9", 1), origin, (*lw.Object).Raw))
	require.Equal(t, []string{"pods"}, names(t, filepath.Dir(path)))
}

func both(t testing.TB) [2]*cache.Snapshot[*lw.Object] {
	return [2]*cache.Snapshot[*lw.Object]{pods(t, "7", 3_000_000), pods(t, "8", 2_000_000)}
}

// saveLoop prints a line before each save, so that the test can kill the process during the save.
func saveLoop(path string) {
	snapshots := both(nil)
	for i := 0; ; i++ {
		os.Stdout.WriteString(strconv.Itoa(i) + "\n")
		if err := Save(path, snapshots[i%2], origin, (*lw.Object).Raw); err != nil {
			panic(err)
		}
	}
}
