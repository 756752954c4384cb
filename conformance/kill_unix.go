//go:build unix

package main

import (
	"os"
	"os/exec"
	"syscall"
)

// ownGroup runs a command in its own process group, so that killGroup reaches all of its processes.
func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// killGroup kills a driver and its child processes. A driver that is a script without exec would leave its client
// running, and that client would disturb the next trials.
func killGroup(p *os.Process) error { return syscall.Kill(-p.Pid, syscall.SIGKILL) }
