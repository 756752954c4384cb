// Command wasm compares the client and the store, compiled to WebAssembly, with equivalent plain JavaScript in Node
// and Chromium. It measures, in MB/s, how fast each of them decodes events, and how fast each decodes and stores a list.
// The environment variable CHROME may contain the path to Chromium.
//
// program/main.go is the measured Go program, and page/plain.mjs is its counterpart in JavaScript. page/world.mjs runs
// either of them, and the process reports the times to the command's server.
package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/seed-6d2a410a/listwatch/bench/internal/harness"
	"github.com/seed-6d2a410a/listwatch/bench/internal/serve"
	"github.com/seed-6d2a410a/listwatch/internal/testkit/published"
	"github.com/seed-6d2a410a/listwatch/internal/testkit/sample"
)

var rounds = harness.Rounds(3)

const (
	program = "program.wasm"
	warmUp  = 3               // passes that warm up the compilers and are not measured
	maxWait = 5 * time.Minute // maximum time for one contender in one round
)

// task is the input for page/world.mjs.
type task struct {
	Program string `json:"program,omitempty"` // path of the WASM module; empty for plain JavaScript
	Course  string `json:"course"`
	Passes  int    `json:"passes"`
}

// report is the result of a task.
type report struct {
	Times []float64 // duration of each pass in milliseconds
	Error string    // empty if the task succeeded
}

func main() { harness.Main(compare) }

func compare(ctx context.Context) error {
	node, err := exec.LookPath("node")
	if err != nil {
		fmt.Println("Node is missing, so nothing can be measured. On Debian, run: apt install nodejs chromium")
		return nil
	}
	s := newServer(ctx)
	contenders := []string{"listwatch, Node", "plain JavaScript, Node"}
	chromium, err := exec.LookPath(cmp.Or(os.Getenv("CHROME"), "chromium"))
	if err != nil {
		fmt.Println("Chromium is missing, so only Node is measured. On Debian, run: apt install chromium")
	} else {
		contenders = append(contenders, "listwatch, Chromium", "plain JavaScript, Chromium")
	}
	found, err := harness.Compare(*rounds, contenders, func(contender string) (harness.Figures, error) {
		ctx, cancel := context.WithTimeout(ctx, maxWait)
		defer cancel()
		figures := harness.Figures{}
		for _, course := range []string{"decode", "list"} {
			t := task{Course: course, Passes: harness.Size(10, warmUp+1)}
			if strings.HasPrefix(contender, "listwatch") {
				t.Program = program
			}
			text := string(harness.MustGet(json.Marshal(t)))
			command := []string{node, "wasm/page/node.mjs", s.origin, s.wasmExec, text}
			if strings.HasSuffix(contender, "Chromium") {
				profile := harness.MustGet(os.MkdirTemp("", "bench-chromium"))
				defer os.RemoveAll(profile)
				command = []string{chromium, "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run",
					"--disable-background-networking", "--user-data-dir=" + profile, s.origin + "/?" + url.QueryEscape(text)}
			}
			result, err := s.run(ctx, command)
			if err != nil {
				return nil, err
			}
			figures[course] = float64(len(s.files[course])) / 1e3 / slices.Min(result.Times[warmUp:]) // bytes per ms, divided by 1e3, are MB/s
		}
		return figures, nil
	})
	if err != nil {
		return err
	}
	results := published.Results{}
	for name, speeds := range found { // uses the fastest pass, because other processes can only slow a pass down
		results[name] = []float64{slices.Max(speeds)}
	}
	if chromium == "" && !*harness.Write { // Save would fail, because the documents also contain figures from Chromium
		harness.Print("wasm", results)
		return nil
	}
	return harness.Save("wasm", results)
}

// server serves files and receives the reports that pages send.
type server struct {
	origin   string
	wasmExec string            // path of wasm_exec.js
	files    map[string][]byte // the WASM module, and the data of each workload
	reports  chan report
}

// newServer starts a server for the page, its modules, wasm_exec.js and the data to decode. The server runs until the
// process exits.
func newServer(ctx context.Context) *server {
	root := harness.MustGet(exec.CommandContext(ctx, "go", "env", "GOROOT").Output())
	pods := harness.Size(1000, 100)
	s := &server{
		wasmExec: filepath.Join(strings.TrimSpace(string(root)), "lib/wasm/wasm_exec.js"),
		files: map[string][]byte{
			program: harness.MustGet(build(ctx)), "decode": sample.Events(7, 3*pods), "list": serve.List(sample.Pods(7, 3*pods)),
		},
		reports: make(chan report),
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, r *http.Request) { http.ServeFile(w, r, "wasm/page/index.html") })
	mux.HandleFunc("GET /wasm_exec.js", func(w http.ResponseWriter, r *http.Request) { http.ServeFile(w, r, s.wasmExec) })
	mux.Handle("GET /wasm/", http.FileServer(http.Dir("..")))
	mux.Handle("GET /bench/wasm/page/", http.FileServer(http.Dir("..")))
	for name, content := range s.files {
		mux.HandleFunc("GET /"+name, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(content) })
	}
	mux.HandleFunc("POST /result", func(_ http.ResponseWriter, r *http.Request) {
		var result report
		if err := json.NewDecoder(r.Body).Decode(&result); err != nil {
			result.Error = err.Error()
		}
		s.reports <- result
	})
	s.origin = httptest.NewServer(serve.Isolated(mux)).URL
	return s
}

// run starts a process, waits for its report and stops the process.
func (s *server) run(ctx context.Context, command []string) (report, error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) } // Chromium then ends all its processes
	cmd.WaitDelay = 10 * time.Second
	ended := make(chan error)
	go func() { ended <- cmd.Run() }()
	select {
	case result := <-s.reports:
		stop()
		<-ended
		if result.Error != "" {
			return result, errors.New(result.Error)
		}
		return result, nil
	case err := <-ended:
		return report{}, fmt.Errorf("%s ended without a report: %w", command[0], cmp.Or(err, ctx.Err()))
	}
}

// build returns the WASM module, compiled with the same flags as the npm package.
func build(ctx context.Context) ([]byte, error) {
	folder, err := os.MkdirTemp("", "bench-wasm")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	cmd := exec.CommandContext(ctx, "go", "run", "./internal/tools/wasmbuild", "bench/wasm/program", filepath.Join(folder, program))
	cmd.Dir, cmd.Stderr = "..", os.Stderr
	if err := cmd.Run(); err != nil {
		return nil, err
	}
	return os.ReadFile(filepath.Join(folder, program))
}
