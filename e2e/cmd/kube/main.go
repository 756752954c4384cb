// Command kube runs the real servers for the end-to-end tests. It contains etcd and kube-apiserver from their Go
// modules in one binary.
//
// Each server runs in its own process, so that a test can kill one server and keep the other. kube-apiserver could
// not start twice in one process because it installs its signal handler only once.
package main

import (
	"fmt"
	"io"
	"os"
)

const usage = `kube runs one part of a Kubernetes control plane for tests.

Usage:
  kube [--stop-at-eof] etcd [flags of etcd]
  kube [--stop-at-eof] apiserver [flags of kube-apiserver]

etcd does not sync its data to disk, so the data does not survive a power
failure.

With --stop-at-eof, the process exits when its standard input ends. It ends
when the parent process exits, even if the parent was killed.
`

func main() {
	args := os.Args[1:]
	if len(args) > 0 && args[0] == "--stop-at-eof" {
		args = args[1:]
		go stopAtEOF()
	}
	if len(args) == 0 {
		fmt.Fprint(os.Stderr, usage)
		os.Exit(2)
	}
	var err error
	switch command := args[0]; command {
	case "etcd":
		runEtcd(args[1:])
	case "apiserver":
		err = runAPIServer(args[1:])
	case "help", "-h", "--help":
		fmt.Print(usage)
	default:
		fmt.Fprintf(os.Stderr, "kube: unknown command %q\n\n%s", command, usage)
		os.Exit(2)
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "kube %s: %v\n", args[0], err)
		os.Exit(1)
	}
}

// stopAtEOF exits when standard input ends. If the parent dies, its end of the pipe closes, even on systems that send
// no signal.
func stopAtEOF() {
	_, _ = io.Copy(io.Discard, os.Stdin)
	fmt.Fprintln(os.Stderr, "kube: standard input ended, exiting")
	os.Exit(1)
}
