package main

import (
	"os"
	"os/exec"
	"time"
)

// findChromium returns the path of Chromium, or "" if there is none.
func findChromium() string {
	for _, name := range []string{os.Getenv("CHROME"), "chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	return ""
}

// startChromium starts Chromium with a new profile and a page that requests tasks. Chromium ends when its debugging pipe is
// closed, and therefore also when this process dies. The caller must call stop.
func (s *server) startChromium(path string) (stop func(), err error) {
	profile, err := os.MkdirTemp("", "bench-chromium")
	if err != nil {
		return nil, err
	}
	commands, held, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer commands.Close()
	answers, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		return nil, err
	}
	defer answers.Close()
	cmd := exec.Command(path, "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run",
		"--disable-background-networking", "--remote-debugging-pipe", "--user-data-dir="+profile, s.origin)
	cmd.ExtraFiles = []*os.File{commands, answers}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	return func() {
		_ = held.Close()
		killing := time.AfterFunc(10*time.Second, func() { _ = cmd.Process.Kill() })
		_ = cmd.Wait() // the exit code does not matter
		killing.Stop()
		_ = os.RemoveAll(profile)
	}, nil
}
