package kube

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
)

// The servers use ports below the ephemeral ranges of Linux (from 32768) and macOS (from 49152). Otherwise, a client
// that dials a stopped server could get the server's port as its local port, connect to itself, and block the port.
const (
	firstPort = 20000
	lastPort  = 32000
)

// errPortTaken means that another process listens on a server's port.
var errPortTaken = errors.New("another process is using the port")

// onFreePorts calls start with n free ports. If another process takes a port before the server does, it tries again with
// other ports, up to three times in total.
func onFreePorts(n int, start func(ports []int) error) error {
	for attempt := 1; ; attempt++ {
		ports, err := freePorts(n)
		if err != nil {
			return err
		}
		if err := start(ports); attempt == 3 || !errors.Is(err, errPortTaken) {
			return err
		}
	}
}

// freePorts returns n different ports on which no process listens.
func freePorts(n int) (ports []int, err error) {
	for range 100 * n {
		port := firstPort + rand.IntN(lastPort-firstPort)
		listener, taken := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if taken != nil {
			err = taken
			continue
		}
		// All listeners stay open until the function returns, so that it cannot choose the same port twice.
		defer func() { _ = listener.Close() }()
		if ports = append(ports, port); len(ports) == n {
			return ports, nil
		}
	}
	return nil, fmt.Errorf("finding %d free ports on 127.0.0.1: %w", n, err)
}
