package kube

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
)

// Ports are chosen below the ephemeral ranges of Linux (from 32768) and macOS (from 49152). A client that dials an
// ephemeral port repeatedly during a restart can get the same port as its local port. It then connects to itself and
// blocks the port for the API server.
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
		// The listeners stay open until all ports are found, so that each port is different.
		defer func() { _ = listener.Close() }()
		if ports = append(ports, port); len(ports) == n {
			return ports, nil
		}
	}
	return nil, fmt.Errorf("finding %d free ports on 127.0.0.1: %w", n, err)
}
