package kube

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
)

// Ports are below the ephemeral ranges of Linux (from 32768) and macOS (from 49152). Otherwise, a client that dials a
// stopped server repeatedly could get the server's port as its local port. It would then connect to itself and block
// the port for the server.
const (
	firstPort = 20000
	lastPort  = 32000
)

// errPortTaken reports that a server could not listen on its port.
var errPortTaken = errors.New("another process has taken a port")

// freePorts returns n different ports that are currently free.
func freePorts(n int) (ports []int, err error) {
	for range 100 * n {
		port := firstPort + rand.IntN(lastPort-firstPort)
		listener, taken := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if taken != nil {
			err = taken
			continue
		}
		// The listeners stay open until all ports are found, so the ports are different.
		defer func() { _ = listener.Close() }()
		if ports = append(ports, port); len(ports) == n {
			return ports, nil
		}
	}
	return nil, fmt.Errorf("finding %d free ports on 127.0.0.1: %w", n, err)
}
