//go:build !js

package main

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"regexp"
	"strings"
	"time"

	"github.com/seed-6d2a410a/listwatch/internal/testkit/sample"
	"github.com/seed-6d2a410a/listwatch/lw"
	"github.com/seed-6d2a410a/listwatch/lwtest"
)

// command is a request from a test. Do is the name of the command. The comments of the other fields start with the
// commands that use the field.
type command struct {
	Do     string `json:"do"`
	Server string `json:"server"`

	Tokens  map[string]bool `json:"tokens"`  // start: maps each token to whether it has access
	Zip     bool            `json:"zip"`     // start: compress streaming lists, like Kubernetes 1.37
	Quiet   bool            `json:"quiet"`   // start: send no bookmarks
	Token   string          `json:"token"`   // revoke and allow: token whose access changes
	Of      string          `json:"of"`      // put and delete: plural name of the resource
	Object  json.RawMessage `json:"object"`  // put: object to write
	Space   string          `json:"space"`   // delete: namespace of the object
	Name    string          `json:"name"`    // delete: name of the object; define and undefine: plural name of the resource
	Columns json.RawMessage `json:"columns"` // define: printer columns of the resource
	N       int             `json:"n"`       // write, fill and touch: number of objects; expire: number of events before the error
	Seed    uint64          `json:"seed"`    // write and touch: the random seed
}

// cluster is an API server that tests control. Unless stated otherwise, commands operate on its ConfigMaps.
type cluster struct {
	*lwtest.Server
	end  map[string]func() // functions that end the effect of the command "hold", or of "revoke" for a token
	pods []sample.Pod      // Pods created by the command "fill"
}

const (
	namespace   = "default"
	definitions = "customresourcedefinitions.apiextensions.k8s.io"
)

func (c *control) do(cmd *command) (any, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if cmd.Do == "start" {
		return c.start(cmd)
	}
	at := c.clusters[cmd.Server]
	if at == nil {
		return nil, errors.New("unknown server " + cmd.Server)
	}
	return at.do(cmd)
}

func (c *control) start(cmd *command) (any, error) {
	bookmarks := 200 * time.Millisecond // so that tests of bookmarks do not wait for the default of one minute
	if cmd.Quiet {
		bookmarks = time.Hour
	}
	server, err := lwtest.Start(&lwtest.Options{
		Tokens: cmd.Tokens, AllowedOrigins: []string{c.origin}, BookmarkInterval: bookmarks,
		CompressStreamingLists: cmd.Zip,
	})
	if err != nil {
		return nil, err
	}
	c.clusters[server.URL] = &cluster{Server: server, end: map[string]func(){}}
	return server.URL, nil
}

// do runs a command. A command without a result only sets err, which the last line returns.
func (c *cluster) do(cmd *command) (result any, err error) {
	switch cmd.Do {
	case "put":
		return c.Put(cmp.Or(cmd.Of, "configmaps"), []byte(cmd.Object))
	case "delete":
		err = c.Delete(cmp.Or(cmd.Of, "configmaps"), cmp.Or(cmd.Space, namespace), cmd.Name)
	case "write":
		err = c.write(rand.New(rand.NewPCG(cmd.Seed, 1)), cmd.N)
	case "fill":
		c.pods = sample.Pods(1, cmd.N)
		err = c.putPods(c.pods)
	case "touch":
		err = c.touch(rand.New(rand.NewPCG(cmd.Seed, 1)), cmd.N)
	case "define":
		return c.Put(definitions, sample.Definition(cmd.Name+".example.com", "v1", "Gadget", string(cmd.Columns)))
	case "undefine":
		err = c.Delete(definitions, "", cmd.Name+".example.com")
	case "look":
		return c.look(), nil
	case "requests":
		return len(c.Requests(nil)), nil
	case "watching":
		return len(c.Open(lwtest.Watches)), nil
	case "drop":
		c.DropConnections()
	case "end":
		c.CloseWatches()
	case "compact":
		c.Compact()
	case "stop":
		c.Close()
	case "restart":
		err = c.Restart()
	case "expire":
		c.Fail(lwtest.Watches, 1, lwtest.Expire(cmd.N))
	case "buffer": // like a proxy that buffers each response until it is complete
		c.Fail(func(r lwtest.Request) bool { return lwtest.Watches(r) && r.Header.Get("Upgrade") == "" }, -1, lwtest.Stall())
	case "hold": // delays all responses
		c.end["hold"] = c.Fail(nil, -1, lwtest.Stall())
	case "release":
		c.end["hold"]()
		c.DropConnections()
	case "revoke":
		c.end[cmd.Token] = c.Fail(sends(cmd.Token), -1, lwtest.Refuse(&lw.StatusError{Code: http.StatusUnauthorized, Reason: "Unauthorized", Message: "Unauthorized"}))
	case "allow":
		c.end[cmd.Token]()
	default:
		err = errors.New("unknown command")
	}
	return nil, err
}

// write performs n random creates, updates and deletes.
func (c *cluster) write(random *rand.Rand, n int) error {
	for range n {
		name := fmt.Sprint("cm-", random.IntN(200))
		var err error
		if random.IntN(4) == 0 {
			err = c.Delete("configmaps", namespace, name)
		} else {
			_, err = c.Put("configmaps", map[string]any{
				"metadata": map[string]any{"name": name, "namespace": namespace, "labels": map[string]any{"n": fmt.Sprint(random.IntN(5))}},
				"data":     map[string]any{"text": fmt.Sprint("Größe ", random.IntN(1000))},
			})
		}
		// Deleting a name that does not exist is not an error.
		if status := (*lw.StatusError)(nil); err != nil && (!errors.As(err, &status) || status.Code != http.StatusNotFound) {
			return err
		}
	}
	return nil
}

// look returns the ConfigMaps and the numbers of requests, in a form that can be encoded as JSON. Tests compare the
// ConfigMaps with those on the page.
func (c *cluster) look() any {
	count := func(all []lwtest.Request) (n int) {
		for _, r := range all {
			if strings.HasSuffix(r.URL.Path, "/configmaps") {
				n++
			}
		}
		return n
	}
	version, objects := c.State("configmaps")
	texts := map[string]json.RawMessage{}
	for key, object := range objects {
		texts[key] = json.RawMessage(object.Raw())
	}
	return map[string]any{
		"version": version, "objects": texts,
		"lists": count(c.Requests(isWholeList)), "watches": count(c.Requests(lwtest.Watches)),
		"open": count(c.Open(lwtest.Watches)),
	}
}

// isWholeList reports whether a request lists the whole collection. A list with limit 1 does not: the npm package sends
// it only to check whether the server still has the history of the saved objects.
func isWholeList(r lwtest.Request) bool { return lwtest.Lists(r) && r.URL.Query().Get("limit") != "1" }

// sends returns a function that reports whether a request contains the token. A page cannot set the headers of a
// WebSocket, so the token of a WebSocket is in a subprotocol.
func sends(token string) func(lwtest.Request) bool {
	protocol := "base64url.bearer.authorization.k8s.io." + base64.RawURLEncoding.EncodeToString([]byte(token))
	return func(r lwtest.Request) bool {
		return r.Header.Get("Authorization") == "Bearer "+token || strings.Contains(r.Header.Get("Sec-Websocket-Protocol"), protocol)
	}
}

// touch gives random phases to n random Pods that the command "fill" created.
func (c *cluster) touch(random *rand.Rand, n int) error {
	phases := []string{"Pending", "Running", "Succeeded", "Failed"}
	changed := make([]sample.Pod, n)
	for i := range changed {
		changed[i] = c.pods[random.IntN(len(c.pods))]
		changed[i].Phase = phases[random.IntN(len(phases))]
	}
	return c.putPods(changed)
}

// given matches the fields that a write must not contain, because the server sets them.
var given = regexp.MustCompile(`"(uid|resourceVersion)":"[^"]*",`)

func (c *cluster) putPods(pods []sample.Pod) error {
	for _, pod := range pods {
		if _, err := c.Put("pods", given.ReplaceAllString(pod.Item(), "")); err != nil {
			return err
		}
	}
	return nil
}
