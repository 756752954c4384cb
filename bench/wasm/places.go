package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"time"
)

// task is what page/world.mjs is asked to do.
type task struct {
	Program string `json:"program,omitempty"` // none: plain JavaScript
	Course  string `json:"course"`
	Data    string `json:"data,omitempty"`
	Passes  int    `json:"passes"`
	Worker  bool   `json:"worker,omitempty"`
}

// result is what it tells.
type result struct {
	Figures map[string][]pass
	Told    map[string]float64
	Error   string
}

// pass is how long one took, in milliseconds by the clock and of the processor.
type pass struct{ MS, Processor float64 }

// place is where tasks are done.
type place func(ctx context.Context, t task) (*result, error)

// server gives the places what they need.
type server struct {
	origin   string
	wasmExec string
	tasks    chan task
	results  chan *result
}

// serve serves the modules of the page, Go's wasm_exec.js, and files by name.
func serve(files map[string][]byte) (*server, error) {
	s := &server{tasks: make(chan task), results: make(chan *result)}
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
	mux.HandleFunc("GET /task", s.task)
	mux.HandleFunc("POST /result", s.result)
	go http.Serve(listener, isolated(mux)) //nolint:errcheck // it ends with the program
	return s, nil
}

// isolated makes pages such that their clocks are exact.
func isolated(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cross-Origin-Opener-Policy", "same-origin")
		w.Header().Set("Cross-Origin-Embedder-Policy", "require-corp")
		w.Header().Set("Cache-Control", "no-store")
		h.ServeHTTP(w, r)
	})
}

func (s *server) task(w http.ResponseWriter, r *http.Request) {
	select {
	case t := <-s.tasks:
		_ = json.NewEncoder(w).Encode(t)
	case <-r.Context().Done():
	}
}

func (s *server) result(_ http.ResponseWriter, r *http.Request) {
	told := &result{}
	if err := json.NewDecoder(r.Body).Decode(told); err != nil {
		told.Error = err.Error()
	}
	s.results <- told
}

// node does a task in a process of Node's.
func (s *server) node(path string) place {
	return func(ctx context.Context, t task) (*result, error) {
		text, err := json.Marshal(t)
		if err != nil {
			return nil, err
		}
		cmd := exec.CommandContext(ctx, path, "--expose-gc", "wasm/page/node.mjs", s.origin, s.wasmExec, string(text))
		cmd.Stderr = os.Stderr
		said, err := cmd.Output()
		if err != nil {
			return nil, fmt.Errorf("node: %w", err)
		}
		told := &result{}
		return told, json.Unmarshal(said, told)
	}
}

// page does a task in the page of a browser that was started by open, or in a worker of it.
func (s *server) page(worker bool) place {
	return func(ctx context.Context, t task) (*result, error) {
		t.Worker = worker
		select {
		case s.tasks <- t:
		case <-ctx.Done():
			return nil, errors.New("the browser asks for no task")
		}
		select {
		case told := <-s.results:
			if told.Error != "" {
				return nil, errors.New(told.Error)
			}
			return told, nil
		case <-ctx.Done():
			return nil, errors.New("the browser does not end a task")
		}
	}
}

// open starts Chromium with a page that asks for tasks, in a new profile. However this process ends, Chromium ends, too: as
// soon as nobody holds the other end of the pipe by which it could be told what to do.
func (s *server) open(path string) (stop func(), err error) {
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
