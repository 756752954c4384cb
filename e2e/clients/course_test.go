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

// paths are the resources that the clients follow, a built-in and a custom one, by lwtest's name for them.
var paths = map[string]string{
	"configmaps":             "/api/v1/configmaps",
	"widgets.lw.example.com": "/apis/lw.example.com/v1/widgets",
}

// deadline bounds every wait; nothing takes nearly as long unless it is broken.
const deadline = time.Minute

// A client is a real client's cache.
type client interface {
	// held gives the resource versions of a resource's objects by "namespace/name".
	held(resource string) map[string]string
}

// course is what every client must live through.
type course struct {
	*testing.T
	server *lwtest.Server
	client client
	// first and again are the requests by which this client gets in step: at its start, and after an outage that made
	// its resource versions too old. See words.
	first, again []string

	random  *rand.Rand
	writes  int
	expired int64 // watches from a version below this one are refused with a 410
}

func newCourse(t *testing.T, opts *lwtest.Options) *course {
	server, err := lwtest.Start(opts)
	require.NoError(t, err)
	t.Cleanup(server.Close)
	c := &course{T: t, server: server, random: rand.New(rand.NewPCG(1, 2))}
	c.write(200) // there is something to list
	return c
}

// run takes the client, which has just been started, through the course.
func (c *course) run() {
	c.inStep()
	for resource := range paths {
		require.Equal(c, c.first, c.words(resource, 0), resource)
	}

	c.write(250)
	c.server.Compact() // the client may or may not have kept up
	c.write(250)
	c.server.DropConnections()
	c.write(200)
	c.inStep()

	before := map[string]int{}
	for resource := range paths {
		before[resource] = len(c.requests(resource))
	}
	c.server.Stop()
	c.write(200)
	c.expired = c.server.Revision()
	require.NoError(c, c.server.Restart())
	c.inStep()
	for resource := range paths {
		require.Equal(c, c.again, c.words(resource, before[resource]), resource)
	}

	c.write(100)
	c.inStep()
}

// inStep returns when the client holds what the server has, and has a watch open that has given it an event. The event is
// there because client-go lists again, without a 410, if a watch ends in its first second and gave none.
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
			require.Empty(c, behind, "not caught up within %v", deadline)
		}
	}
}

func differences(resource string, has, held map[string]string) (lines []string) {
	all := maps.Clone(has)
	maps.Copy(all, held)
	for key := range all {
		if has[key] != held[key] {
			lines = append(lines, fmt.Sprintf("%s %s: the server has version %q, the client %q", resource, key, has[key], held[key]))
		}
	}
	return lines
}

func (c *course) versions(resource string) map[string]string {
	_, objects := c.server.State(resource)
	versions := map[string]string{}
	for key, object := range objects {
		versions[key] = object.ResourceVersion
	}
	return versions
}

// requests are those about a resource.
func (c *course) requests(resource string) []lwtest.Request {
	return c.server.Requests(func(r lwtest.Request) bool { return r.URL.Path == paths[resource] })
}

// words tells the requests about a resource, without the first ones: "list", "stream" for a streaming list, "watch", and
// "expired watch" for one that the server answers with a 410.
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
