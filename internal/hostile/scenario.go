// Package hostile provides API servers that misbehave, for testing clients. A [Scenario] describes how a server
// misbehaves. A [Server] plays it over HTTP and WebSocket, or in memory, and can also run in simulated time.
package hostile

import (
	"cmp"
	"crypto/tls"
	"net"
	"slices"
)

// Scenario describes a server that misbehaves until [Server.Behave] is called, and is correct afterwards. Scenarios are
// values: a test can copy one and change its seed.
//
// Set Lies if a correct client can end up with a wrong copy, because the server omits events or sends events that are
// false but well-formed. The checks then forgive the wrong copy, but the client must correct it with its next list.
// Without Lies, the client must either detect the misbehavior or be unaffected by it. Also set Restart if a client may
// remember a resourceVersion that the server, once it behaves, has not reached yet. The client notices this only at a
// later request, so the recovery takes longer.
type Scenario struct {
	Name    string
	Does    string  // the misbehavior
	Source  string  // URL of an incident, or of a specification that the server violates or that surprises clients
	Seed    uint64  // determines the random changes to the ConfigMaps
	Lies    bool    // sends wrong data, which clients believe until the next list
	Restart bool    // resourceVersions decrease when the server behaves, so recovery may take 27 minutes instead of 15
	Lists   bool    // the server rejects streaming lists and sends small pages
	Causes  []error // errors that a client must report

	slow     bool // objects take minutes to arrive, but the stream must not report lw.ErrSilent, because bytes arrive
	nameless bool // sends lists without a resourceVersion, so the store cannot be compared with the server's state
	format        // determines the names and resourceVersions
	serve    step // responds to a request while the server misbehaves

	network bool // requests use connections instead of memory
	ws      bool // watches use WebSocket
	// accept receives each TLS connection, with its number, before the handshake. If it is nil, connections use no TLS.
	accept func(conn net.Conn, config *tls.Config, nth int)
}

// Sources of more than one scenario.
const (
	concepts  = "https://kubernetes.io/docs/reference/using-api/api-concepts/"
	detection = concepts + "#efficient-detection-of-changes"
	bookmarks = concepts + "#watch-bookmarks"
	streaming = concepts + "#streaming-lists"
	chunks    = concepts + "#retrieving-large-results-sets-in-chunks"
	versions  = concepts + "#resource-versions"
	rfcJSON   = "https://www.rfc-editor.org/rfc/rfc8259"
	rfcHTTP   = "https://www.rfc-editor.org/rfc/rfc9110"
	issues    = "https://github.com/kubernetes/kubernetes/issues/"
)

// sourced sets Source in each of the scenarios that does not have one.
func sourced(source string, scenarios []Scenario) []Scenario {
	for i := range scenarios {
		scenarios[i].Source = cmp.Or(scenarios[i].Source, source)
	}
	return scenarios
}

// pageSize is the maximum number of objects per page if Scenario.Lists is set. It is small, so that the lists of a world
// with 12 to 40 objects have several pages.
const pageSize = 7

// All returns the scenarios that can be played in memory. The server of the first scenario is always correct.
func All() []Scenario {
	return slices.Concat(correctServers(), wrongWatches(), shortWatches(), hostileErrorResponses(), wrongLists(), malformedLists(), wrongStreamingLists(), unusualServers())
}
