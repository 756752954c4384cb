package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/seed-6d2a410a/listwatch/bench/internal/serve"
	"github.com/seed-6d2a410a/listwatch/internal/testkit/sample"
)

// task is the input of page/world.mjs.
type task struct {
	Program string `json:"program,omitempty"` // path of the WASM module; empty for plain JavaScript
	Course  string `json:"course"`
	Data    string `json:"data,omitempty"`
	Passes  int    `json:"passes"`
}

// report is the output of page/world.mjs.
type report struct {
	Figures map[string][]float64 // milliseconds of each pass, by name of the measurement
	Error   string
}

// place runs tasks in Node or in a browser.
type place struct {
	name string
	do   func(context.Context, task) (*report, error)
}

// server serves files, passes tasks to the page, and receives the page's reports.
type server struct {
	origin   string
	wasmExec string // path of wasm_exec.js
	tasks    chan task
	reports  chan *report
}

// startServer starts a server for the page, its modules, wasm_exec.js and the given files. The server runs until the
// process exits.
func startServer(files map[string][]byte) (*server, error) {
	s := &server{tasks: make(chan task), reports: make(chan *report)}
	var err error
	if s.wasmExec, err = wasmExec(); err != nil {
		return nil, err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s.origin = "http://" + listener.Addr().String()
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, r *http.Request) { http.ServeFile(w, r, "wasm/page/index.html") })
	mux.HandleFunc("GET /wasm_exec.js", func(w http.ResponseWriter, r *http.Request) { http.ServeFile(w, r, s.wasmExec) })
	mux.Handle("GET /wasm/", http.FileServer(http.Dir("..")))
	mux.Handle("GET /bench/wasm/page/", http.FileServer(http.Dir("..")))
	for name, content := range files {
		mux.HandleFunc("GET /"+name, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(content) })
	}
	mux.HandleFunc("GET /task", s.serveTask)
	mux.HandleFunc("POST /result", s.serveResult)
	go http.Serve(listener, serve.Isolated(mux)) //nolint:errcheck // ends with the process
	return s, nil
}

func (s *server) serveTask(w http.ResponseWriter, r *http.Request) {
	select {
	case t := <-s.tasks:
		_ = json.NewEncoder(w).Encode(t) // fails only if the page is closed; inPage then times out
	case <-r.Context().Done():
	}
}

func (s *server) serveResult(_ http.ResponseWriter, r *http.Request) {
	result := &report{}
	if err := json.NewDecoder(r.Body).Decode(result); err != nil {
		result.Error = err.Error()
	}
	s.reports <- result
}

// inNode returns a function that runs each task in a new Node process.
func (s *server) inNode(path string) func(context.Context, task) (*report, error) {
	return func(ctx context.Context, t task) (*report, error) {
		argument, err := json.Marshal(t)
		if err != nil {
			return nil, err
		}
		cmd := exec.CommandContext(ctx, path, "wasm/page/node.mjs", s.origin, s.wasmExec, string(argument))
		cmd.Stderr = os.Stderr
		output, err := cmd.Output()
		if err != nil {
			return nil, fmt.Errorf("node: %w", err)
		}
		result := &report{}
		return result, json.Unmarshal(output, result)
	}
}

// inPage runs a task in the page that startChromium opened and returns the page's report.
func (s *server) inPage(ctx context.Context, t task) (*report, error) {
	select {
	case s.tasks <- t:
	case <-ctx.Done():
		return nil, errors.New("the browser did not request a task")
	}
	select {
	case result := <-s.reports:
		if result.Error != "" {
			return nil, errors.New(result.Error)
		}
		return result, nil
	case <-ctx.Done():
		return nil, errors.New("the browser did not finish the task")
	}
}

const program = "program.wasm"

// build returns the WASM module, compiled with the flags of the npm package.
func build() ([]byte, error) {
	folder, err := os.MkdirTemp("", "bench-wasm")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	cmd := exec.Command("go", "run", "./internal/tools/wasmbuild", "bench/wasm/program", filepath.Join(folder, program))
	cmd.Dir, cmd.Stderr = "..", os.Stderr
	if err := cmd.Run(); err != nil {
		return nil, err
	}
	return os.ReadFile(filepath.Join(folder, program))
}

// wasmExec returns the path of wasm_exec.js in the Go installation.
func wasmExec() (string, error) {
	root, err := exec.Command("go", "env", "GOROOT").Output()
	return filepath.Join(strings.TrimSpace(string(root)), "lib/wasm/wasm_exec.js"), err
}

// findChromium returns the path of Chromium, or "" if it is not installed.
func findChromium() string {
	for _, name := range []string{os.Getenv("CHROME"), "chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	return ""
}

// startChromium starts Chromium with a new profile and a page that requests tasks. Chromium exits when its debugging
// pipe closes, even if this process is killed. The caller must call stop.
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
		_ = cmd.Wait()
		killing.Stop()
		_ = os.RemoveAll(profile)
	}, nil
}

// newEvents returns a watch response with the given number of MODIFIED events for each Pod. Every event changes the
// resourceVersion, and every fifth event changes the node.
func newEvents(pods, times int) []byte {
	all := sample.Pods(7, pods)
	var events bytes.Buffer
	for time := range times {
		for i, pod := range all {
			pod.ResourceVersion += uint64(time * pods)
			if (i+time)%5 == 0 {
				pod.Node = all[(i+1)%pods].Node
			}
			events.WriteString(pod.Event("MODIFIED"))
		}
	}
	return events.Bytes()
}

func newList(pods int) []byte { return serve.List(sample.Pods(7, pods), "2000000") }
