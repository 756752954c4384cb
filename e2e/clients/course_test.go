package clients

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed-6d2a410a/listwatch/lw/lwtest"
)

// paths maps names of resources in lwtest to the collections that the clients watch: a built-in and a custom resource.
var paths = map[string]string{
	"configmaps":             "/api/v1/configmaps",
	"widgets.lw.example.com": "/apis/lw.example.com/v1/widgets",
}

// deadline limits each wait. A working client is much faster.
const deadline = time.Minute

// client is the cache of a real client.
type client interface {
	// held returns the resourceVersions of a resource's objects by "namespace/name".
	held(resource string) map[string]string
}

// course is the test sequence for every client.
type course struct {
	*testing.T
	server *lwtest.Server
	client client
	// first and again are this client's requests after its start and after an outage in which its resourceVersions
	// expired. The method course.words defines their format.
	first, again []string

	random  *rand.Rand
	writes  int
	expired int64 // the server rejects watches from lower resourceVersions with 410
}

func newCourse(t *testing.T, opts *lwtest.Options) *course {
	server, err := lwtest.Start(opts)
	require.NoError(t, err)
	t.Cleanup(server.Close)
	c := &course{T: t, server: server, random: rand.New(rand.NewPCG(1, 2))}
	c.write(200) // the first list must not be empty
	return c
}

// run runs the sequence with a client that has just started.
func (c *course) run() {
	c.inStep()
	for resource := range paths {
		require.Equal(c, c.first, c.words(resource, 0), resource)
	}

	c.write(250)
	c.server.Compact() // the client may or may not be up to date
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

// inStep waits until the client's cache equals the server's state and its watches have received an event. The event
// matters for client-go. It relists without a 410 if a watch ends within its first second without an event.
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
			lines = append(lines, fmt.Sprintf("%s %s: the server has resourceVersion %q, the client %q", resource, key, has[key], held[key]))
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

// requests returns the requests for a resource.
func (c *course) requests(resource string) []lwtest.Request {
	return c.server.Requests(func(r lwtest.Request) bool { return r.URL.Path == paths[resource] })
}

// words returns the requests for a resource as words, without the first skip requests. The words are "list", "stream"
// for a streaming list, "watch", and "expired watch" for a watch that returns a 410.
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
