//go:build !unix

package main

import (
	"os"
	"os/exec"
)

// ownGroup does nothing, because this system has no process groups.
func ownGroup(*exec.Cmd) {}

// killGroup kills only the driver itself.
func killGroup(p *os.Process) error { return p.Kill() }
