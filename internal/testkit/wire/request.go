package wire

// Request is the JSON object that /echo returns.
type Request struct {
	URL       string
	Header    map[string][]string
	Protocols []string // WebSocket subprotocols
}
