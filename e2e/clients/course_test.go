package clients

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed-6d2a410a/listwatch/lwtest"
)

// paths contains the collections that the clients watch: a built-in resource and a custom resource.
var paths = map[string]string{
	"configmaps":             "/api/v1/configmaps",
	"widgets.lw.example.com": "/apis/lw.example.com/v1/widgets",
}

// deadline is how long to wait for the client's cache to match the server's state.
const deadline = time.Minute

// client is a Kubernetes client under test.
type client interface {
	// held returns the resourceVersions of all cached objects of a resource. The keys have the form "namespace/name".
	held(resource string) map[string]string
}

// course tests a client with writes and failures.
type course struct {
	*testing.T
	server *lwtest.Server
	client client
	// first contains the labels of the requests that the client must send after its start; see words. again contains
	// the labels of the requests that it must send after an outage in which its resourceVersion expired.
	first, again []string

	random  *rand.Rand
	writes  int
	expired int64 // lowest resourceVersion from which the server accepts watches
}

func newCourse(t *testing.T, opts *lwtest.Options) *course {
	server, err := lwtest.Start(opts)
	require.NoError(t, err)
	t.Cleanup(server.Close)
	c := &course{T: t, server: server, random: rand.New(rand.NewPCG(1, 2))}
	c.write(200)
	return c
}

// run performs all writes and failures and checks the client after each step. The client must be running.
func (c *course) run() {
	c.inStep()
	for resource := range paths {
		require.Equal(c, c.first, c.words(resource, 0), resource)
	}

	c.write(250)
	c.server.Compact() // expires events that the client may not have received yet
	c.write(250)
	c.server.DropConnections()
	c.write(200)
	c.inStep()

	before := map[string]int{}
	for resource := range paths {
		before[resource] = len(c.requests(resource))
	}
	c.server.Close()
	c.write(200)
	version, _ := c.server.State("pods")
	expired, err := strconv.ParseInt(version, 10, 64)
	require.NoError(c, err)
	c.expired = expired
	require.NoError(c, c.server.Restart())
	c.inStep()
	for resource := range paths {
		require.Equal(c, c.again, c.words(resource, before[resource]), resource)
	}

	c.write(100)
	c.inStep()
}

// inStep waits until the client's cache matches the server's state and each open watch has received an event. The event
// matters because client-go relists if a watch ends within a second without an event.
func (c *course) inStep() {
	c.Helper()
	c.caughtUp()
	c.write(len(paths))
	c.caughtUp()
}

func (c *course) caughtUp() {
	c.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(deadline); ; <-tick.C {
		var behind []string
		for resource := range paths {
			behind = append(behind, differences(resource, c.versions(resource), c.client.held(resource))...)
		}
		if len(behind) == 0 {
			return
		}
		if time.Now().After(end) {
			require.Empty(c, behind, "the client did not catch up within %v", deadline)
		}
	}
}

func differences(resource string, has, held map[string]string) (lines []string) {
	all := maps.Clone(has)
	maps.Copy(all, held)
	for key := range all {
		if has[key] != held[key] {
			lines = append(lines, fmt.Sprintf("%s %s: the server has resourceVersion %q, the client has %q", resource, key, has[key], held[key]))
		}
	}
	return lines
}

func (c *course) versions(resource string) map[string]string {
	_, objects := c.server.State(resource)
	versions := map[string]string{}
	for key, object := range objects {
		versions[key] = object.GetResourceVersion()
	}
	return versions
}

func (c *course) requests(resource string) []lwtest.Request {
	return c.server.Requests(func(r lwtest.Request) bool { return r.URL.Path == paths[resource] })
}

// words returns a label for each request for a resource, except the first skip requests. The labels are "list",
// "watch", "stream" for a streaming list, and "expired watch" for a watch that the server rejects with 410.
func (c *course) words(resource string, skip int) []string {
	var words []string
	for _, r := range c.requests(resource)[skip:] {
		word, query := r.Verb, r.URL.Query()
		if query.Get("sendInitialEvents") == "true" {
			word = "stream"
		} else if version, _ := strconv.ParseInt(query.Get("resourceVersion"), 10, 64); word == "watch" && version < c.expired {
			word = "expired watch"
		}
		words = append(words, word)
	}
	return words
}
