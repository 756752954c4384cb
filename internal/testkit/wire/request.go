package wire

// Request is the JSON object with which /echo describes a request.
type Request struct {
	URL       string
	Header    map[string][]string
	Protocols []string // WebSocket subprotocols
}
