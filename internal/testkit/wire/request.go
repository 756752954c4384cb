package wire

// Request is what /echo answers.
type Request struct {
	URL       string
	Header    map[string][]string
	Protocols []string // of a WebSocket
}
