package kube

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
)

// Ports are chosen below the range from which Linux (32768) and macOS (49152) take the ports of outgoing connections. From
// within that range, a client that dials again and again while the API server restarts could be given the very port that it
// dials: it would be connected to itself, and the API server could not listen there any more.
const (
	firstPort = 20000
	lastPort  = 32000
)

// errPortTaken says that a server could not listen on its port.
var errPortTaken = errors.New("a port was taken by another process")

// freePorts returns n different ports that nobody listens on now.
func freePorts(n int) (ports []int, err error) {
	for range 100 * n {
		port := firstPort + rand.IntN(lastPort-firstPort)
		listener, taken := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if taken != nil {
			err = taken
			continue
		}
		// The listener stays open until all ports are found, so that no port is found twice.
		defer func() { _ = listener.Close() }()
		if ports = append(ports, port); len(ports) == n {
			return ports, nil
		}
	}
	return nil, fmt.Errorf("finding %d free ports on 127.0.0.1: %w", n, err)
}
